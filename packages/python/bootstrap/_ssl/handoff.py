"""The carriers of sessions over `MemoryBIO`, and the search for the connection of such a session.

A library such as asyncio or anyio moves the bytes of a `MemoryBIO` over a socket of its own, which
`ssl` does not know. The edge process can judge the requests and inject secrets only if the session
is attached to the connection. So a client's first output is no message of TLS but a *greeting*:
random bytes that only this process knows. The library passes the greeting to `socket.send`, which
names the connection.

    connection to the outside    the session is attached, and the library moves records
    another socket               the session's first message is sent in place of the greeting
    no socket                    the reader of the greeting reads the first message instead

`socket.send` and `socket.sendall` are replaced only while a greeting is under way. Next: socket.
"""

import os
import select
import socket
import weakref

from . import carriers

# A record of TLS with the type of `hello`, so that a greeting in a log is recognized.
_HEAD = b"\x16\x03\x01\x00\x20"
_GREETING_SIZE = len(_HEAD) + 32

# The carriers whose connection is unknown, by their greetings.
_undecided = weakref.WeakValueDictionary()


class BIOBelow:
    """The encrypted bytes of two `MemoryBIO`."""

    def __init__(self, incoming, outgoing):
        self._incoming = incoming
        self._outgoing = outgoing

    def write(self, data):
        if data:
            self._outgoing.write(data)
            data.clear()

    def read(self):
        if not self._incoming.pending and not self._incoming.eof:
            return None
        data = self._incoming.read()
        hello = hello_of(data[:_GREETING_SIZE])
        return data if hello is None else hello + data[_GREETING_SIZE:]


class Undecided:
    """The carrier of a client's session before its connection is known."""

    def __init__(self, engine, bios, decide):
        """`decide` receives the final carrier."""
        self._engine = engine
        self._bios = bios
        self._decide = weakref.WeakMethod(decide)
        self._greeting = _HEAD + os.urandom(_GREETING_SIZE - len(_HEAD))
        _undecided[self._greeting] = self
        _hook()
        bios[1].write(self._greeting)

    def flush(self):
        return True

    def fill(self):
        return False

    def close(self):
        _undecided.pop(self._greeting, None)
        _unhook()

    def attach(self, descriptor):
        """Attaches the session to a connection. Raises an OSError for another descriptor."""
        attachment = carriers.Attachment(descriptor, self._engine)
        self._settle(AttachedBIO(self._engine, *self._bios, attachment))
        # The library has a record to read before the session ends.
        channel = carriers.Channel(self._engine, descriptor)
        channel.settle(lambda: not self._engine.output)

    def decline(self):
        """Begins a session that is not attached. Returns its first message."""
        carrier = carriers.Filter(self._engine, BIOBelow(*self._bios))
        self._settle(carrier)
        carrier.flush()
        return self._bios[1].read()

    def _settle(self, carrier):
        self.close()
        decide = self._decide()
        if decide is not None:
            decide(carrier)


class AttachedBIO:
    """The carrier of an attached session whose records pass two `MemoryBIO`."""

    def __init__(self, engine, incoming, outgoing, attachment):
        self._engine = engine
        self._incoming = incoming
        self._outgoing = outgoing
        self._attachment = attachment

    def flush(self):
        if self._engine.output:
            self._outgoing.write(self._engine.output)
            self._engine.output.clear()
        return True

    def fill(self):
        if self._incoming.pending:
            self._engine.take(self._incoming.read())
            return True
        if self._incoming.eof and not self._engine.has_ended:
            self._engine.has_ended = True
            return True
        return False

    def close(self):
        # The library closes the descriptor.
        self._attachment.release(False)


def hello_of(data):
    """Returns the first message of the session whose greeting is `data`, or None."""
    carrier = _waiting_for(data)
    return None if carrier is None else carrier.decline()


def _waiting_for(data):
    if not _undecided or memoryview(data).nbytes != _GREETING_SIZE:
        return None
    return _undecided.get(bytes(data))


def _hook():
    socket.socket.send, socket.socket.sendall = _send, _sendall


def _unhook():
    if not _undecided and "send" in vars(socket.socket):
        del socket.socket.send, socket.socket.sendall


def _send(self, data, flags=0, /):
    carrier = _waiting_for(data)
    if carrier is None:
        return super(socket.socket, self).send(data, flags)
    _introduce(carrier, self.fileno())
    return _GREETING_SIZE


def _sendall(self, data, flags=0, /):
    carrier = _waiting_for(data)
    if carrier is None:
        return super(socket.socket, self).sendall(data, flags)
    return _introduce(carrier, self.fileno())


def _introduce(carrier, descriptor):
    """Begins a session over the connection of a descriptor."""
    try:
        carrier.attach(descriptor)
    except OSError:
        hello = bytearray(carrier.decline())
        carriers.write(descriptor, hello)
        while hello:
            carriers.wait(descriptor, select.POLLOUT)
            carriers.write(descriptor, hello)
