"""One folder a paper: what repeats that paper and nothing else needs."""
