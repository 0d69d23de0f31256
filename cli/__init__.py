"""The command `weir`: its subcommands, and the exit status of each kind of failure."""
