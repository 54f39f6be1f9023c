"""Receives the events of a turn. Next: start.

`shim/entry.c` calls `deliver` for each event. The call returns when the event's work has ended,
because calls of the kernel block the program in the middle of a turn.
"""

import _coldframe_host as host

from . import processes  # isort: skip  # noqa: F401 - `subprocess` needs the functions at its import
from . import (  # noqa: F401 - imports the modules of the image
    child_watcher,
    evaluations,
    key_derivation,
    preloaded,
    start,
    system,
    threads,
    warm,
)


def deliver(kind, id, result, payload):
    """Handles one event. The arguments are the fields of the event's header, and its payload."""
    if kind == host.EVENT_START:
        start.start(id, payload)
    elif kind == host.EVENT_EVAL:
        evaluations.evaluate(id, result, payload)
    elif kind == host.EVENT_RESTORE:
        start.restore(payload)
    # Other events belong to operations, and the guest starts none: its calls block instead.


warm.up()
