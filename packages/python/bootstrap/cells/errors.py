"""Describes errors of cells. The frames of this package are not part of a traceback."""

import os
import traceback

_HERE = os.path.dirname(__file__)


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
    frames = [frame for frame in report.stack if os.path.dirname(frame.filename) != _HERE]
    if isinstance(error, SyntaxError) and not any(frame.filename.startswith("<") for frame in frames):
        frames = []
    report.stack = traceback.StackSummary.from_list(frames)
    for other in (report.__cause__, report.__context__):
        if other is not None:
            _clean(other, None)
