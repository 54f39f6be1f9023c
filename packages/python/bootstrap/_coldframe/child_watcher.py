"""Waits for the children of `asyncio`. The kernel sends no SIGCHLD, so a timer asks for the end.

The time between two questions grows to 20 ms. The pipes of a child wake the loop at once.
"""

import os
import selectors
import warnings
from asyncio import unix_events

_SHORTEST, _LONGEST = 0.001, 0.02


class Watcher(unix_events.AbstractChildWatcher):
    """Calls a function of the running loop after the end of a child."""

    def __init_subclass__(cls):
        pass

    def add_child_handler(self, pid, callback, *args):
        loop = unix_events.events.get_running_loop()
        self._ask(loop, pid, callback, args, _SHORTEST)

    def _ask(self, loop, pid, callback, args, delay):
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if ended else None
        except ChildProcessError:
            ended, code = pid, 255
        if ended:
            callback(pid, code, *args)
        elif not loop.is_closed():
            loop.call_later(delay, self._ask, loop, pid, callback, args, min(delay * 2, _LONGEST))

    def remove_child_handler(self, pid):
        return True

    def attach_loop(self, loop):
        """The watcher uses the running loop."""

    def close(self):
        """The watcher holds no state."""

    def is_active(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


def install():
    """Makes the watcher the one of `asyncio`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        unix_events.ThreadedChildWatcher = Watcher
    unix_events.can_use_pidfd = lambda: False
    # The image build has no kernel, so `selectors` has found no `poll` that works.
    selectors.DefaultSelector = selectors.PollSelector


install()
