"""Passes connections to the outside to the edge process.

`attach` makes a session of a connection, as Node's TLS sockets do. The descriptor of the connection
then becomes the session's, so that `select` on the descriptor waits for plain bytes.

A program with a MemoryBIO moves the bytes of TLS itself, so the connection is not known at the
beginning of the handshake. `expect` notes the first message of a client. The program then sends
the message on a socket, and the socket's methods for sending find the message. Until then the
methods are replaced. On a connection to the outside, the message is not sent: the session of
another handshake is attached instead, and the connection's MemoryBIO carries records. `Passage`
separates them from the peer's bytes. On other connections nothing changes. Next: memory.
"""

import errno
import os
import socket
import weakref

import _socket

from . import kernel

# The most bytes of a client's first message.
_MAX_MESSAGE = 16 << 10

_MARK_SIZE = 32

# The first messages that programs have not sent, with the connections that made them.
_expected = {}


def attach(fd):
    """Attaches a session to the connection `fd`. Returns the session's descriptor and the bytes that
    have arrived, or None if the connection is inside the runtime. The edge process keeps the
    connection open for the session, without a descriptor of the program."""
    session = kernel.attach_session(fd)
    if session is None:
        return None
    try:
        kernel.end_sending(fd)
        return session, _read_to_end(fd)
    except BaseException:
        kernel.close(session)
        raise


def _read_to_end(fd):
    """Returns the bytes that arrived before the session. The edge process ends them at once."""
    parts = []
    while (data := _read(fd)) != b"":
        if data is None:
            kernel.FOREVER.wait_readable(fd)
        else:
            parts.append(data)
    return b"".join(parts)


def _read(fd):
    try:
        return kernel.read(fd)
    except OSError:
        # The session reports the failure.
        return b""


class Passage:
    """The change of a program's socket from the peer's bytes to the records of a session.

    The program may have read bytes of the peer that are not in its MemoryBIO yet. A hostile peer
    could write records, such as the fact that its certificate is verified. So the socket first
    becomes the end of a pipe with a mark that no peer can know. The program's bytes before the mark
    are the peer's. After the mark, the socket becomes the session's.
    """

    def __init__(self, fd, session):
        self._fd, self._session = fd, session
        self._before = bytearray()
        self._mark = os.urandom(_MARK_SIZE)
        near, self._far = kernel.pair()
        kernel.write(self._far, self._mark)
        kernel.replace(fd, near)

    def take(self, data):
        """Takes bytes of the program. Returns the peer's bytes if the mark has arrived."""
        self._before += data
        if not self._before.endswith(self._mark):
            return None
        # The other end has no bytes while the program's socket is open.
        if kernel.read(self._far) is not None:
            raise OSError(errno.EBADF, "The socket was closed during the handshake")
        kernel.replace(self._fd, self._session)
        self._session = -1
        del self._before[-_MARK_SIZE:]
        return bytes(self._before)

    @property
    def fd(self):
        """The descriptor of the session."""
        return self._session if self._session >= 0 else self._fd

    def close(self):
        """Closes the descriptors that the program does not have."""
        kernel.close(self._far)
        if self._session >= 0:
            kernel.close(self._session)
            self._session = -1

    def __del__(self):
        if hasattr(self, "_far"):
            self.close()


def expect(message, connection):
    """Waits for a program that sends the first message of a connection."""
    _expected[message] = weakref.ref(connection, lambda _: forget(message))
    for name, method in _METHODS.items():
        setattr(socket.socket, name, method)


def forget(message):
    """Ends `expect`."""
    if _expected.pop(message, None) is not None and not _expected:
        for name in _METHODS:
            delattr(socket.socket, name)


def _takes_over(sock, data):
    """Returns whether `data` is an expected message, and the connection `sock` was taken over."""
    if len(data) > _MAX_MESSAGE:
        return False
    message = bytes(data)
    connection = _expected[message]() if message in _expected else None
    if connection is None:
        return False
    forget(message)
    return connection.take_over(sock.fileno())


def _send(self, data, flags=0, /):
    if _takes_over(self, data):
        return len(data)
    return _socket.socket.send(self, data, flags)


def _sendall(self, data, flags=0, /):
    return None if _takes_over(self, data) else _socket.socket.sendall(self, data, flags)


def _sendmsg(self, buffers, *rest):
    buffers = list(buffers)
    data = b"".join(buffers)
    return len(data) if _takes_over(self, data) else _socket.socket.sendmsg(self, buffers, *rest)


_METHODS = {"send": _send, "sendall": _sendall}
if hasattr(_socket.socket, "sendmsg"):
    _METHODS["sendmsg"] = _sendmsg
