"""The functions of `os` for children, over the kernel's calls `spawn`, `watch` and `reap`.

The functions are part of `os` and `posix` from the image build on. `_posixsubprocess` starts
children for `subprocess`. The kernel sends no SIGCHLD. Next: `_posixsubprocess.py`, then threads.
"""

import os
import posix
import signal
import struct

import _coldframe_calls as calls

_SPAWN, _WATCH, _WAIT_FOR_WATCHED, _REAP = 0x400, 0x408, 0x409, 0x40A
_NEW_SESSION, _GROUP, _HAS_USER, _HAS_GROUP = 1, 2, 0x10, 0x20
_NOTHING, _INHERITED = 0, 1
# The most children that one call of the kernel watches.
_MOST_WATCHED = 64
_FOREVER, _ROUND = -1, 50_000_000

_children = set()


def spawn(file, arguments, variables=None, directory=None, descriptors=(0, 1, 2), **placement):
    """Starts a child. Returns its pid. `descriptors` has the caller's descriptor for each of the child.

    `-1` passes no descriptor. `placement` has `new_session`, `group`, `user` and `user_group`.
    """
    group, user, user_group = (placement.get(name) for name in ("group", "user", "user_group"))
    if variables is None:
        variables = [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in os.environ.items()]
    flags = _NEW_SESSION if placement.get("new_session") else 0
    words = [len(arguments), len(variables), len(descriptors)]
    if user is not None:
        flags |= _HAS_USER
        words.append(user)
    if user_group is not None:
        flags |= _HAS_GROUP
        words.append(user_group)
    for descriptor in descriptors:
        words += (_NOTHING, 0) if descriptor < 0 else (_INHERITED, descriptor)
    if group is not None and not flags & _NEW_SESSION:
        flags |= _GROUP
        words.append(group)
    texts = [file, directory or b"", *arguments, *variables]
    pid = calls.sys(_SPAWN, struct.pack(f"<{len(words) + 1}I", flags, *words), b"\0".join(texts) + b"\0")
    _children.add(pid)
    return pid


def _reap(pid):
    """Returns the wait status of a child that has ended, or `None` while the child lives."""
    try:
        status = calls.sys(_REAP, pid)
    except BlockingIOError:
        return None
    except OSError:
        _children.discard(pid)
        raise
    _children.discard(pid)
    return status


def waitpid(pid, options, /):
    """Waits for a child, or with -1 for any child. Returns its pid and its wait status."""
    if pid in (-1, 0) and not _children:
        raise ChildProcessError(_ECHILD, os.strerror(_ECHILD))
    while True:
        candidates = [pid] if pid > 0 else sorted(_children)
        for candidate in candidates:
            status = _reap(candidate)
            if status is not None:
                return candidate, status
        if options & posix.WNOHANG:
            return 0, 0
        watched = candidates[:_MOST_WATCHED]
        calls.sys(_WATCH, struct.pack(f"<{2 * len(watched)}I", *(word for one in watched for word in (one, 0))))
        try:
            calls.wait(_WAIT_FOR_WATCHED, _FOREVER if len(watched) == len(candidates) else _ROUND)
        except InterruptedError:
            continue


def wait():
    """Waits for any child. Returns its pid and its wait status."""
    return waitpid(-1, 0)


def waitstatus_to_exitcode(status):
    """Returns the exit code of a wait status, or the negative number of the signal."""
    if WIFEXITED(status):
        return WEXITSTATUS(status)
    if WIFSIGNALED(status):
        return -WTERMSIG(status)
    raise ValueError(f"invalid wait status: {status}")


def WIFEXITED(status):
    """Returns whether the child has exited."""
    return status & 0x7F == 0


def WEXITSTATUS(status):
    """Returns the exit code of a child that has exited."""
    return status >> 8 & 0xFF


def WIFSIGNALED(status):
    """Returns whether a signal has ended the child."""
    return 0 < status & 0x7F < 0x7F


def WTERMSIG(status):
    """Returns the signal that has ended the child."""
    return status & 0x7F


def WIFSTOPPED(status):
    """Returns whether the child is stopped."""
    return status & 0xFF == 0x7F


def WSTOPSIG(status):
    """Returns the signal that has stopped the child."""
    return status >> 8 & 0xFF


def WIFCONTINUED(status):
    """Returns whether the child has been continued."""
    return status == 0xFFFF


def WCOREDUMP(status):
    """Returns False: the kernel writes no memory of ended processes."""
    return False


def system(command):
    """Runs a command of the shell. Returns its wait status."""
    pid = spawn(b"/bin/sh", [b"sh", b"-c", os.fsencode(command)])
    return waitpid(pid, 0)[1]


def _valid_signals():
    return set(signal.Signals)


def forget_children():
    """Forgets the children of the program from which this process was copied."""
    _children.clear()


def install():
    """Adds the functions to `posix` and `os`."""
    functions = [waitpid, wait, waitstatus_to_exitcode, system]
    functions += [WIFEXITED, WEXITSTATUS, WIFSIGNALED, WTERMSIG, WIFSTOPPED, WSTOPSIG, WIFCONTINUED, WCOREDUMP]
    names = {function.__name__: function for function in functions}
    names.update(WNOHANG=1, WUNTRACED=2, WCONTINUED=8)
    signal.valid_signals = _valid_signals
    for name, value in names.items():
        setattr(posix, name, value)
        setattr(os, name, value)
        if name not in os.__all__:
            os.__all__.append(name)


import errno  # noqa: E402 - the numbers are known only after the built-in module has been made

_ECHILD = errno.ECHILD
install()
