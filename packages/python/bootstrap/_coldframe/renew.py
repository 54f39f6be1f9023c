"""Renews the state that copies of an image, or of a snapshot, must not share.

All copies begin with the same memory. This module lists the state of the standard library that
must differ between processes, or that depends on the process. `os.urandom`, `secrets`, `uuid4` and
the clocks ask the sidecar at each call and need no renewal. The seed of the hashes of strings stays
the same in all processes, because strings keep their hashes.
"""

import logging
import os
import random
import sys
import tempfile
import time
import uuid

import _coldframe_calls as calls

from . import processes, spawns, texts  # noqa: F401 - adds functions to `os`


def environment(variables):
    """Sets the variables `NAME=value`, and removes the variables `NAME`."""
    for text in variables:
        name, value = texts.split_variable(text)
        if "=" in text:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)


def process(pid, ppid):
    """Sets the numbers of the process."""
    processes.forget_children()
    calls.begin_process(pid, ppid)


def everything():
    """Renews all state that does not depend on the arguments of a process."""
    random.seed()
    tempfile.tempdir = None
    tempfile._name_sequence = None
    uuid._node = None
    uuid._last_timestamp = None
    logging._startTime = time.time_ns()
    _streams()


def _streams():
    """Sets the buffering of the standard streams, which depends on whether they are terminals."""
    unbuffered = "PYTHONUNBUFFERED" in os.environ
    sys.stdout.reconfigure(line_buffering=unbuffered or _is_terminal(1), write_through=unbuffered)
    sys.stderr.reconfigure(line_buffering=True, write_through=unbuffered)


def _is_terminal(descriptor):
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
