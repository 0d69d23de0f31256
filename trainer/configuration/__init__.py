"""What a training is told: the tables of its configuration file, and the scenarios it draws."""
