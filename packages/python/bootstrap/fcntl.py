"""The module `fcntl` over the calls of the kernel.

The kernel has no locks of files. One runtime has one user, so `flock` and `lockf` succeed.
"""

import array
import struct

import _coldframe_calls as calls

_DUPLICATE, _STATUS_FLAGS, _SET_STATUS_FLAGS = 0x125, 0x127, 0x128
_GET_SIZE, _SET_SIZE, _GET_FOREGROUND, _SET_FOREGROUND, _SET_CONTROLLING = 0x703, 0x704, 0x705, 0x706, 0x708
_KIND = 0x124
_NO_DESCRIPTOR = 6
_NON_BLOCKING = 0o4000
_EBADF, _EINVAL, _ENOTTY = 9, 22, 25

F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL = range(5)
F_GETLK, F_SETLK, F_SETLKW = 5, 6, 7
F_SETOWN, F_GETOWN = 8, 9
F_RDLCK, F_WRLCK, F_UNLCK = range(3)
F_DUPFD_CLOEXEC = 1030
FD_CLOEXEC = 1
LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN = 1, 2, 4, 8

_TIOCSCTTY, _TIOCGPGRP, _TIOCSPGRP, _TIOCGWINSZ, _TIOCSWINSZ = 0x540E, 0x540F, 0x5410, 0x5413, 0x5414
_FIONBIO = 0x5421

_descriptor_flags = {}


def fcntl(fd, cmd, arg=0, /):
    """Performs an operation on a descriptor."""
    fd = _number(fd)
    if cmd in (F_DUPFD, F_DUPFD_CLOEXEC):
        return calls.sys(_DUPLICATE, fd, arg)
    if cmd == F_GETFL:
        return calls.sys(_STATUS_FLAGS, fd)
    if cmd == F_SETFL:
        return calls.sys(_SET_STATUS_FLAGS, fd, arg)
    if calls.sys(_KIND, fd) == _NO_DESCRIPTOR:
        raise _error(_EBADF)
    if cmd == F_GETFD:
        return 0 if fd <= 2 else _descriptor_flags.get(fd, FD_CLOEXEC)
    if cmd == F_SETFD:
        _descriptor_flags[fd] = arg & FD_CLOEXEC
        return 0
    if cmd in (F_SETLK, F_SETLKW):
        return arg if isinstance(arg, bytes) else 0
    if cmd == F_GETLK and isinstance(arg, bytes):
        return struct.pack("h", F_UNLCK) + arg[2:]
    raise _error(_EINVAL)


def ioctl(fd, request, arg=0, mutate_flag=True, /):
    """Performs a request of a terminal, or sets whether a descriptor blocks."""
    fd = _number(fd)
    request &= 0xFFFFFFFF
    if request == _TIOCGWINSZ:
        size = bytearray(8)
        calls.sys(_GET_SIZE, fd, size)
        return _reply(bytes(size), arg, mutate_flag)
    if request == _TIOCSWINSZ:
        rows, columns = struct.unpack_from("HH", arg)
        calls.sys(_SET_SIZE, fd, rows, columns)
        return arg if isinstance(arg, bytes) else 0
    if request == _TIOCGPGRP:
        return _reply(struct.pack("i", calls.sys(_GET_FOREGROUND, fd)), arg, mutate_flag)
    if request == _TIOCSPGRP:
        calls.sys(_SET_FOREGROUND, fd, struct.unpack_from("i", arg)[0])
        return 0
    if request == _TIOCSCTTY:
        return calls.sys(_SET_CONTROLLING, fd)
    if request == _FIONBIO:
        (on,) = struct.unpack_from("i", arg)
        flags = calls.sys(_STATUS_FLAGS, fd) & ~_NON_BLOCKING
        return calls.sys(_SET_STATUS_FLAGS, fd, flags | (_NON_BLOCKING if on else 0))
    if calls.sys(_KIND, fd) == _NO_DESCRIPTOR:
        raise _error(_EBADF)
    raise _error(_ENOTTY)


def flock(fd, operation, /):
    """Succeeds for an open descriptor."""
    _check(_number(fd))


def lockf(fd, cmd, len=0, start=0, whence=0, /):
    """Succeeds for an open descriptor."""
    _check(_number(fd))


def _reply(data, arg, mutate_flag):
    """Returns the bytes of a request in the form in which the caller passed its buffer."""
    if isinstance(arg, (bytearray, memoryview, array.array)) and mutate_flag:
        memoryview(arg).cast("B")[: len(data)] = data
        return 0
    return data + arg[len(data) :] if isinstance(arg, bytes) else data


def _check(fd):
    if calls.sys(_KIND, fd) == _NO_DESCRIPTOR:
        raise _error(_EBADF)


def _number(fd):
    if isinstance(fd, int):
        number = fd
    else:
        number = fd.fileno()
    if number < 0:
        raise ValueError(f"file descriptor cannot be a negative integer ({number})")
    return number


def _error(number):
    import os

    return OSError(number, os.strerror(number))
