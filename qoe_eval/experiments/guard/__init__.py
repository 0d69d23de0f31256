"""`weir experiment guard`: how often each rule of the guard speaks, and what that gains or costs."""
