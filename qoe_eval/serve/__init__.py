"""`weir serve`: a page on this machine to make calls, steer and watch them."""
