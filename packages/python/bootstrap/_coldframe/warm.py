"""Runs the code of a start in the image build.

The interpreter replaces the instructions of a function while the function runs for the first times,
and counts executions in the code. Without this module each program would write the pages with the
code of the bootstrap. The code that a start executes is gathered, so that few pages are written.
"""

import array
import gc
import linecache
import os
import struct
import sys
from types import FunctionType

import _coldframe_host as host

from . import program, start

_ROUNDS = 30
# A start executes most functions of these modules. `up` cannot call the first functions of a start.
_OWN = {f"_coldframe.{name}" for name in ("events", "start", "program", "command_line", "texts")}


def up():
    """Runs everything of a start and of an end that leaves no trace."""
    block = _block("/", "", "pass", "python3", "COLDFRAME_WARM=1", "COLDFRAME_WARMER=2")

    def once():
        start.prepare(start.Start(block))
        program.outcome(lambda: program.run_text("pass", "<string>"))
        program.flush()

    _gather(once)
    for _ in range(_ROUNDS):
        once()
    del os.environ["COLDFRAME_WARM"], os.environ["COLDFRAME_WARMER"]
    linecache.clearcache()
    sys.argv = sys.orig_argv = [""]


def _gather(work):
    """Calls `work`, and places the code of `_OWN` and the code that `work` changed in neighbouring memory."""
    functions = [one for one in gc.get_objects() if type(one) is FunctionType]
    # The hashes take less memory than the code, and the image has all memory of the build.
    before = array.array("q", (hash(one.__code__._co_code_adaptive) for one in functions))
    work()
    changed = [
        one
        for one, old in zip(functions, before)
        if one.__module__ in _OWN or hash(one.__code__._co_code_adaptive) != old
    ]
    # The copies of `replace` were never executed.
    for one, code in zip(changed, host.gather([one.__code__.replace() for one in changed])):
        one.__code__ = code


def _block(directory, url, source, argument, *variables):
    """Returns a start block with one argument."""
    parts = [struct.pack("<5I", 2, 1, 1, len(variables), 0)]
    for text in (directory, url, source, argument, *variables):
        raw = text.encode()
        parts.append(struct.pack("<I", len(raw)) + raw + bytes(4 - len(raw) % 4))
    return b"".join(parts)
