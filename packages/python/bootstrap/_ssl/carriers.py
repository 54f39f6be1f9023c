"""The ways of the bytes between a session, the program and the peer.

    Pump      session ◄─ records ─► guest ◄─ encrypted bytes ─► socket or MemoryBIO
    Attached  edge process ◄─ records ─► socket
    Tunnel    edge process ◄─ records ─► the program's socket ◄─ the program ─► MemoryBIO

A pump moves the encrypted bytes itself. It needs no kind of connection, but the edge process sees
only encrypted bytes. So a connection to the outside gets one of the other carriers, which let the
edge process apply the policy and insert secrets (takeover.py). Then the socket's descriptor is the
session itself: its bytes are records, and `select` reports when the program can read. A tunnel is
for programs that move the bytes of a MemoryBIO themselves, such as asyncio. They move records
without a difference.

`push` sends the bytes that wait. `pull` receives bytes of the peer. Both wait until their deadline,
or raise SSLWantWriteError or SSLWantReadError. A pull also sends what the peer accepts at once, and
does not wait for a peer that only writes. Next: takeover.
"""

from functools import partial

from . import errors, kernel

# The number of records after which a writer also reads. The edge process replies to each record,
# and stops while its replies wait.
_UNREAD = 256
# The most plain bytes that wait in the guest while the program only writes.
_MAX_WAITING = 1 << 20


def _send_all(fd, data, deadline):
    """Writes all bytes, and removes them from `data`."""
    while data:
        count = kernel.write(fd, data)
        del data[:count]
        if count > 0:
            continue
        if deadline.never_waits:
            raise errors.want_write()
        if not deadline.wait_writable(fd):
            raise TimeoutError("The write operation timed out")


def _send_some(send, data):
    """Sends the bytes that are accepted at once."""
    try:
        send(data, kernel.NEVER)
    except errors.SSLWantWriteError:
        pass


def _receive(fd, deadline):
    """Returns bytes, or empty bytes at the end."""
    while (data := kernel.read(fd)) is None:
        if deadline.never_waits:
            raise errors.want_read()
        if not deadline.wait_readable(fd):
            raise TimeoutError("The read operation timed out")
    return data


class SocketWire:
    """The encrypted bytes of a pump on a socket of the program."""

    def __init__(self, fd):
        self._fd = fd

    def send(self, data, deadline):
        _send_all(self._fd(), data, deadline)

    def receive(self, deadline):
        return _receive(self._fd(), deadline)


class BufferWire:
    """The encrypted bytes of a pump in buffers of the program."""

    def __init__(self, incoming, outgoing):
        self._incoming, self._outgoing = incoming, outgoing

    def send(self, data, deadline):
        self._outgoing.write(data)
        data.clear()

    def receive(self, deadline):
        if not self._incoming.pending and not self._incoming.at_end:
            raise errors.want_read()
        return self._incoming.read()


class Pump:
    """Moves the encrypted bytes between a session and a wire."""

    def __init__(self, session, wire):
        self._session, self._wire = session, wire
        self._fd = kernel.open_session()

    def push(self, deadline):
        self._settle()
        self._wire.send(self._session.to_peer, deadline)

    def pull(self, deadline):
        self._exchange_all()
        if not self._session.is_cut:
            data = self._wire.receive(deadline)
            if data:
                self._session.receive_encrypted(data)
            else:
                self._session.cut()
        self._exchange_all()

    def ask(self, request):
        """Returns the reply to a request."""
        self._session.ask(request)
        while self._session.reply is None:
            self._exchange()
        return self._session.reply

    def close(self):
        """Closes the session."""
        if self._fd >= 0:
            kernel.close(self._fd)
            self._fd = -1

    def __del__(self):
        if hasattr(self, "_fd"):
            self.close()

    def _exchange_all(self):
        self._settle()
        _send_some(self._wire.send, self._session.to_peer)

    def _settle(self):
        """Waits until the session has handled all records. Only the edge process decides how long
        this takes, and never the peer."""
        while self._session.outgoing or not self._session.is_settled:
            self._exchange()

    def _exchange(self):
        """Sends what the session accepts, and receives its next records."""
        outgoing = self._session.outgoing
        del outgoing[: kernel.write(self._fd, outgoing) if outgoing else 0]
        data = kernel.read(self._fd)
        if data:
            self._session.feed(data)
        elif data is not None:
            raise ConnectionResetError("The session of TLS has ended")
        elif not outgoing:
            kernel.FOREVER.wait_readable(self._fd)


class Attached:
    """The records of a session whose descriptor is the socket of the program."""

    def __init__(self, session, fd):
        self._session, self._fd = session, fd
        self._unread = 0

    def push(self, deadline):
        _send_all(self._fd(), self._session.outgoing, deadline)
        self._unread += 1
        if self._unread >= _UNREAD and len(self._session.plain) < _MAX_WAITING:
            self._unread = 0
            self._session.feed(kernel.read(self._fd()) or b"")

    def pull(self, deadline):
        _send_some(partial(_send_all, self._fd()), self._session.outgoing)
        data = _receive(self._fd(), deadline)
        if data:
            self._session.feed(data)
        else:
            self._session.cut()


class Tunnel:
    """The records of a session in buffers of the program, which moves them to the session."""

    def __init__(self, session, incoming, outgoing, passage, arrived):
        self._session = session
        self._incoming, self._outgoing = incoming, outgoing
        self._passage, self._arrived = passage, arrived
        self._send_now()

    def push(self, deadline):
        self._outgoing.write(self._session.outgoing)
        self._session.outgoing.clear()

    def pull(self, deadline):
        if self._passage is not None:
            self._pass()
        self.push(deadline)
        data = self._incoming.read()
        if data:
            self._session.feed(data)
        elif self._incoming.at_end:
            self._session.cut()
        else:
            raise errors.want_read()

    def _pass(self):
        """Takes the bytes that the program has read before the first records."""
        early = self._passage.take(self._incoming.read())
        if early is None:
            raise errors.want_read()
        self._session.receive_encrypted(early + self._arrived)
        self._session.end_encrypted()
        self._send_now()
        self._passage.close()
        self._passage = None

    def _send_now(self):
        """Sends records to the session, which the program's socket may not be yet."""
        kernel.write_all(self._passage.fd, bytes(self._session.outgoing))
        self._session.outgoing.clear()
