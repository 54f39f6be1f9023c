"""Moves the bytes between an engine, its session and its connection.

| carrier | connection | the encrypted bytes are moved by |
|---|---|---|
| `Filter` | a socket in the runtime, or two `MemoryBIO` | the program |
| `Attached` | a socket with a connection to the outside | the edge process |
| `AttachedBIO` (handoff.py) | two `MemoryBIO` of such a connection | the edge process |

The edge process judges the requests of an attached session, and injects secrets.

After `attach_tls`, no bytes arrive at the descriptor of the connection, so a program that polls the
descriptor would wait forever. Therefore the session takes the number of the descriptor, and the
connection is moved to another number. The descriptor is then ready when the session has records.

Each carrier has the methods `flush()`, which returns whether all output is written, and `fill()`,
which returns whether bytes have arrived. Neither waits for the peer. Next: handoff.
"""

import errno
import os
import select

import _coldframe_host as host

# The kernel's calls (docs/internals/guest-abi.md).
_CLOSE = 0x201
_READ = 0x206
_WRITE = 0x207
_SHUTDOWN = 0x208
_EXPLAIN = 0x216
_OPEN_TLS = 0x217
_ATTACH_TLS = 0x218
_DUPLICATE = 0x125
_DUPLICATE_TO = 0x126
_STATUS_FLAGS = 0x127
_SET_STATUS_FLAGS = 0x128

_NON_BLOCKING = 0o4000
_READ_SIZE = 64 << 10
# The lowest number of a connection whose session has taken its number.
_LOWEST_MOVED = 3
# A close waits no longer for a session whose peer does not read.
_CLOSE_SECONDS = 2


def wait(descriptor, mask, timeout=None):
    """Waits until a descriptor is ready for a mask of `poll`. Returns False after `timeout`."""
    poll = select.poll()
    poll.register(descriptor, mask)
    return bool(poll.poll(None if timeout is None else max(0, timeout) * 1000))


def read(descriptor):
    """Reads from a socket without a wait. Returns None if no bytes wait."""
    buffer = bytearray(_READ_SIZE)
    try:
        count = host.sys(_READ, descriptor, buffer)
    except BlockingIOError:
        return None
    del buffer[count:]
    return buffer


def write(descriptor, data):
    """Removes the bytes from `data` that a socket accepts without a wait."""
    while data:
        try:
            count = host.sys(_WRITE, descriptor, bytes(data[:_READ_SIZE]))
        except BlockingIOError:
            return
        del data[:count]


def close(descriptor):
    """Closes a descriptor. A closed descriptor is no error."""
    try:
        host.sys(_CLOSE, descriptor, 0)
    except OSError:
        pass


class Channel:
    """The socket of a session."""

    def __init__(self, engine, descriptor):
        self._engine = engine
        self.descriptor = descriptor

    @classmethod
    def open(cls, engine):
        """Opens a session that is not attached."""
        try:
            return cls(engine, host.sys(_OPEN_TLS))
        except PermissionError as error:
            message = "TLS is not available in this runtime (option `network`)"
            raise PermissionError(error.errno, message) from None

    def push(self):
        """Writes records to the session. Returns whether all are written."""
        try:
            write(self.descriptor, self._engine.output)
        except OSError:
            # The next read reports the failure of the session.
            self._engine.output.clear()
        return not self._engine.output

    def pull(self):
        """Reads records of the session. Returns whether bytes or a failure have arrived."""
        if self._engine.failure is not None and "errno" in self._engine.failure:
            return True
        try:
            data = read(self.descriptor)
        except OSError as error:
            self._engine.fail({"errno": error.errno, "text": self._explanation() or error.strerror})
            return True
        if data is None:
            return False
        if not data:
            # A session that has reported its end may be closed by the edge process.
            if self._engine.is_closed or self._engine.has_ended:
                self._engine.has_ended = True
                self._engine.output.clear()
            self._engine.fail({"errno": errno.ECONNRESET, "text": os.strerror(errno.ECONNRESET)})
            return True
        self._engine.take(data)
        return True

    def settle(self, is_done=None, seconds=None):
        """Waits at most `seconds` for the session's results, which do not depend on the peer."""
        is_done = is_done or (lambda: self._engine.is_settled)
        while not is_done() and not (self._engine.failure and "errno" in self._engine.failure):
            mask = select.POLLIN if self.push() else select.POLLIN | select.POLLOUT
            if is_done():
                return
            if not self.pull() and not wait(self.descriptor, mask, seconds):
                return

    def close(self):
        close(self.descriptor)

    def _explanation(self):
        """Returns the sentence about a refused connection, or an empty text."""
        buffer = bytearray(4096)
        try:
            count = host.sys(_EXPLAIN, self.descriptor, buffer)
        except OSError:
            return ""
        return bytes(buffer[:count]).split(b"\0")[0].decode()


class SocketBelow:
    """The encrypted bytes of a socket."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def write(self, data):
        write(self._descriptor, data)

    def read(self):
        return read(self._descriptor)


class Filter:
    """The carrier of a session whose encrypted bytes the program moves."""

    def __init__(self, engine, below):
        self._engine = engine
        self._below = below
        self._channel = Channel.open(engine)

    def flush(self):
        self._channel.settle()
        self._below.write(self._engine.to_peer)
        return not self._engine.to_peer

    def fill(self):
        if self._engine.has_ended:
            return False
        data = self._below.read()
        if data is None:
            return False
        if data:
            self._engine.receive(data)
            self._channel.settle()
        else:
            self._engine.has_ended = True
        return True

    def close(self):
        self._channel.close()


class Attachment:
    """A connection to the outside whose session has taken the connection's descriptor."""

    def __init__(self, descriptor, engine):
        """Attaches a session. Raises an OSError for a descriptor without a connection outside."""
        channel = Channel(engine, host.sys(_ATTACH_TLS, descriptor))
        self._moved = host.sys(_DUPLICATE, descriptor, _LOWEST_MOVED)
        self._descriptor = descriptor
        self._hand_over(engine)
        # The library that owns the descriptor may block in its reads.
        flags = host.sys(_STATUS_FLAGS, descriptor)
        host.sys(_SET_STATUS_FLAGS, channel.descriptor, flags & _NON_BLOCKING)
        host.sys(_DUPLICATE_TO, channel.descriptor, descriptor)
        channel.close()

    def _hand_over(self, engine):
        """Passes the connection to the session (tls/attached.rs, "Hand-over")."""
        host.sys(_SHUTDOWN, self._moved)
        while True:
            data = read(self._moved)
            if data is None:
                wait(self._moved, select.POLLIN)
            elif data:
                engine.receive(data)
            else:
                break
        engine.end_receiving()

    def release(self, is_open):
        """Closes the session. An open descriptor becomes the connection's again."""
        if self._moved is None:
            return
        moved, self._moved = self._moved, None
        if is_open:
            host.sys(_DUPLICATE_TO, moved, self._descriptor)
        close(moved)


class Attached:
    """The carrier of a session over a connection to the outside."""

    def __init__(self, engine, descriptor, is_open):
        self._attachment = Attachment(descriptor, engine)
        self._channel = Channel(engine, descriptor)
        self._engine = engine
        self._is_open = is_open

    def flush(self):
        # A full session accepts no records before the program has read some.
        while not self._channel.push():
            if not self._channel.pull():
                return False
        return True

    def fill(self):
        return not self._engine.has_ended and self._channel.pull()

    def close(self):
        """Waits until the session has encrypted the last bytes, which the edge process sends."""
        is_open = self._is_open()
        if is_open and self._engine.failure is None and not self._engine.has_ended:
            self._channel.settle(seconds=_CLOSE_SECONDS)
        self._attachment.release(is_open)
