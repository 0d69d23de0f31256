"""The options of commands; nothing here takes time to import."""
