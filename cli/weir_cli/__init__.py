"""The command `weir`: its subcommands and exit statuses."""
