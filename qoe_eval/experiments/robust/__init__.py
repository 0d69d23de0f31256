"""`weir experiment robust`: a model on ordinary network life, against libwebrtc's congestion control and the rule."""
