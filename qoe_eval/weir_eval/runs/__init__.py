"""`weir replay`: the runs, the processes that execute them, and the folder of results."""
