"""Errors that a user can fix, shared by every part of Weir."""


class InputError(ValueError):
    """Input from a user is wrong: a file, an option, a value.

    The message has the fault, its place and how to fix it.
    """


class MissingComponent(RuntimeError):
    """A program, library or file that Weir needs is not installed.

    The message names it and how to get it.
    """
