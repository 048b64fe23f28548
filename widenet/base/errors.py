"""The errors that users see: one sentence that says what is wrong, where, and what to do.

A setting or an argument is named in backquotes, as in `width` or `layers=3`, the way Python knows it. The
command line shows its own flags in their place.
"""


class WidenetError(Exception):
    """Something failed although the input was fine; exit code 1."""


class InputError(WidenetError):
    """The data, a name or an option is wrong; exit code 2."""


class NotConvergedError(WidenetError):
    """An iteration ended before its error bound was met, so its number must not be shown."""


class OutOfMemoryError(WidenetError):
    """Memory ran out on the way, although it seemed to suffice before."""


class WorkerLostError(WidenetError):
    """A worker is gone, and what it held; others can do its work."""


class ClusterLostError(WidenetError):
    """The place where work runs is gone, so that nothing more can be run there."""
