"""`weir experiment send-side`: Weir at the sender, from transport feedback, against Weir at the receiver and GCC."""
