"""The options of commands. Must stay fast to import."""
