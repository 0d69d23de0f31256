"""Files in and out: names, inputs read with a bound on their size, outputs written whole or not at all."""
