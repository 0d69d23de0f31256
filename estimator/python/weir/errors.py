"""Errors that a user can mend, shared by every part of the ``weir`` command."""


class InputError(ValueError):
    """Something a user gave is wrong: a file, an option, a value.

    The message says what is wrong, where, and how to mend it. Commands print it and exit with status 2.
    """


class MissingComponent(RuntimeError):
    """A program, library or file that Weir needs is not installed.

    The message says which, and how to get it. Commands print it and exit with status 3.
    """
