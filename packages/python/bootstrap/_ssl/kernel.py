"""The kernel's calls for sessions of TLS (docs/internals/guest-abi.md, "Sockets").

A session is a descriptor of the program, whose bytes are records (session.py). No call waits, so
`wait` does. All errors of a session's descriptor end the session. Next: session.
"""

import errno
import select
import struct
import time

import _coldframe_calls as calls

_CLOSE = 0x201
_READ = 0x206
_WRITE = 0x207
_SHUTDOWN = 0x208
_PAIR = 0x210
_EXPLAIN = 0x216
_OPEN_TLS = 0x217
_ATTACH_TLS = 0x218
_DUPLICATE_TO = 0x126
_STATUS_FLAGS = 0x127
_SET_STATUS_FLAGS = 0x128
_RUN = 0x316
_JOB_BEGIN = 0x310
_JOB_WAIT = 0x313
_JOB_READ = 0x314
_JOB_FORGET = 0x315

_READ_SIZE = 64 << 10
_EXPLANATION_SIZE = 4 << 10

# The target of all reads. The first read makes the buffer, so that the image does not have one.
_buffer = None


def open_session():
    """Opens a session whose encrypted bytes pass the program. Returns its descriptor."""
    try:
        return calls.sys(_OPEN_TLS)
    except PermissionError:
        text = "TLS is not available: the runtime has no option `network`"
        raise PermissionError(errno.EACCES, text) from None


def attach_session(connection):
    """Opens a session that is attached to a connection to the outside. Returns its descriptor, or
    None if the connection is inside the runtime."""
    try:
        return calls.sys(_ATTACH_TLS, connection)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return None


def read(fd):
    """Returns bytes of a descriptor: None if none wait, and empty bytes at the end."""
    global _buffer
    if _buffer is None:
        _buffer = bytearray(_READ_SIZE)
    try:
        count = calls.sys(_READ, fd, _buffer)
    except BlockingIOError:
        return None
    except PermissionError:
        raise PermissionError(errno.EACCES, _explanation(fd) or "Permission denied") from None
    return bytes(memoryview(_buffer)[:count])


def write(fd, data):
    """Writes all or some bytes. Returns their number, which is 0 if the descriptor is full."""
    try:
        return calls.sys(_WRITE, fd, data)
    except BlockingIOError:
        return 0


def _explanation(fd):
    """Returns the sentence that explains a refused connection."""
    buffer = bytearray(_EXPLANATION_SIZE)
    try:
        count = calls.sys(_EXPLAIN, fd, buffer)
    except OSError:
        return None
    return bytes(buffer[:count]).split(b"\0")[0].decode("utf-8", "replace")


def end_sending(fd):
    """Ends the sending direction of a socket."""
    calls.sys(_SHUTDOWN, fd)


def close(fd):
    """Closes a descriptor."""
    try:
        calls.sys(_CLOSE, fd, 0)
    except OSError:
        pass


def pair():
    """Returns the descriptors of two connected sockets."""
    ends = bytearray(8)
    calls.sys(_PAIR, ends)
    return struct.unpack("<2I", ends)


def write_all(fd, data):
    """Writes all bytes to a session, which accepts them after a short time."""
    while data:
        count = write(fd, data)
        data = data[count:]
        if count == 0:
            FOREVER.wait_writable(fd)


def replace(fd, source):
    """Makes `fd` the descriptor of the socket `source`, with the blocking mode of `fd`, and closes
    the former socket."""
    calls.sys(_SET_STATUS_FLAGS, source, calls.sys(_STATUS_FLAGS, fd))
    calls.sys(_DUPLICATE_TO, source, fd)
    close(source)


def run(command, request, size):
    """Returns the result of a short computation, or None if the computation fails."""
    buffer = bytearray(size)
    try:
        count = calls.sys(_RUN, command, request, buffer)
    except OSError:
        return None
    return bytes(buffer[:count]) if count <= size else run(command, request, count)


def run_job(command, request):
    """Returns the result of a long computation, or None if the computation fails."""
    try:
        job = calls.sys(_JOB_BEGIN, command, request)
        buffer = bytearray(calls.wait(_JOB_WAIT, job))
        calls.sys(_JOB_READ, job, 0, buffer)
        calls.sys(_JOB_FORGET, job)
    except OSError:
        return None
    return bytes(buffer)


class Deadline:
    """The time that an operation may wait, from the timeout of a socket: None without a limit, and
    0 for an operation that never waits."""

    def __init__(self, timeout):
        self.never_waits = timeout == 0
        self._end = None if timeout is None else time.monotonic() + timeout

    def wait_readable(self, fd):
        """Waits for bytes of a descriptor. Returns False at the end of the time."""
        return bool(select.select([fd], [], [], self._left())[0])

    def wait_writable(self, fd):
        """Waits for space in a descriptor. Returns False at the end of the time."""
        return bool(select.select([], [fd], [], self._left())[1])

    def _left(self):
        return None if self._end is None else max(0, self._end - time.monotonic())


FOREVER = Deadline(None)
NEVER = Deadline(0)
