"""`weir experiment trust`: what broken models cost in the pilot's seat, when trust may take it from them."""
