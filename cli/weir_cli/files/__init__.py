"""Input and output files: names, inputs read with a size limit, outputs written completely or not at all."""
