"""`weir serve`: a page on this machine to make, steer and watch calls."""
