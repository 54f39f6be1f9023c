"""Describes errors of cells. A traceback begins with the first frame of a cell."""

import os
import traceback

_BOOTSTRAP = os.path.dirname(os.path.dirname(__file__)) + "/"
# The names of the code of cells.
_CELLS = ("<cell ", "<magic>")


def described(error):
    """Returns the dictionary of an error: `name`, `message` and `stack`."""
    try:
        message = str(error)
    except Exception as failure:
        message = f"<the message failed: {type(failure).__name__}>"
    try:
        report = traceback.TracebackException.from_exception(error, compact=True)
        _clean(report, error)
        stack = "".join(report.format()).rstrip("\n")
    except Exception:
        stack = f"{type(error).__name__}: {message}"
    return {"name": type(error).__name__, "message": message, "stack": stack}


def _clean(report, error):
    """Removes the frames that the program did not write. A cell with a syntax error ran no frame."""
    frames = list(report.stack)
    first = next((place for place, frame in enumerate(frames) if frame.filename.startswith(_CELLS)), 0)
    frames = [frame for frame in frames[first:] if not frame.filename.startswith(_BOOTSTRAP)]
    if isinstance(error, SyntaxError) and not any(frame.filename.startswith("<") for frame in frames):
        frames = []
    report.stack = traceback.StackSummary.from_list(frames)
    for other in (report.__cause__, report.__context__):
        if other is not None:
            _clean(other, None)
