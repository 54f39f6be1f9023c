"""_SSLSocket: one end of TLS. `ssl` wraps it as SSLSocket and as SSLObject.

The class has the rules of OpenSSL's calls: a read returns the bytes that are there, a write that
cannot finish is repeated with equal bytes, and a handshake begins with the first use. The session
is created at the handshake, because the program may send plain bytes before. Next: session.
"""

import weakref
from functools import partial

from . import certificates, ciphers, errors, hostnames, kernel, takeover
from .carriers import Attached, BufferWire, Pump, SocketWire, Tunnel
from .constants import CERT_NONE, OP_IGNORE_UNEXPECTED_EOF
from .session import PIECE, Session
from .tickets import SSLSession

_CLIENT_COUNTS = ("connect", "connect_good")
_SERVER_COUNTS = ("accept", "accept_good")


class _SSLSocket:
    """One end of TLS, over a socket or over the buffers of a program."""

    def __init__(self, context, server_side, server_hostname, owner, sock=None, buffers=None):
        self._context = context
        self.server_side, self.server_hostname = server_side, server_hostname
        self._owner = _reference(owner)
        self._sock = _reference(sock)
        self._has_socket = sock is not None
        # The carriers have no reference to this object, so that its end closes the session.
        self._descriptor = partial(_descriptor_of, self._sock)
        self._buffers = buffers
        self._session = self._carrier = None
        self._ticket = None
        self._peer_chain = []
        self._is_ready = False
        self._end_is_sent = False
        # The number of bytes of a write that must be repeated.
        self._unwritten = 0
        self._message = None

    @property
    def context(self):
        return self._context

    @context.setter
    def context(self, context):
        from .context import _SSLContext

        if not isinstance(context, _SSLContext):
            raise TypeError("The value must be a SSLContext")
        self._context = context

    @property
    def owner(self):
        return self._owner()

    @owner.setter
    def owner(self, owner):
        self._owner = _reference(owner)

    @property
    def session(self):
        if self._session is None or self._session.facts is None:
            return self._ticket
        ticket = self._session.ticket
        if ticket is None and self._ticket is not None and self.session_reused:
            return self._ticket
        return SSLSession(self._context, ticket)

    @session.setter
    def session(self, session):
        if not isinstance(session, SSLSession):
            raise TypeError("Value is not a SSLSession.")
        if session._context is not self._context:
            raise ValueError("Session refers to a different SSLContext.")
        if self.server_side:
            raise ValueError("Cannot set session for server-side SSLSocket.")
        if self._is_ready:
            raise ValueError("Cannot set session after handshake.")
        self._ticket = session

    @property
    def session_reused(self):
        return bool(self._facts and self._facts["reused"])

    @property
    def _facts(self):
        return None if self._session is None else self._session.facts

    def do_handshake(self):
        """Does the handshake."""
        deadline = self._deadline()
        try:
            self._shake_hands(deadline)
        except TimeoutError as error:
            # The edge process has its own limit, whose error has a number.
            if error.errno is None:
                raise TimeoutError("The handshake operation timed out") from None
            raise

    def _shake_hands(self, deadline):
        if self._is_ready:
            return
        if self._session is None:
            self._begin()
        session = self._session
        while session.facts is None:
            if session.hello is not None:
                self._choose(session)
            elif session.error is not None:
                self._push_rest(deadline)
                raise session.error
            elif session.is_cut:
                raise errors.unexpected_end()
            elif self._message is None and isinstance(self._carrier, Pump) and not self.server_side and self._buffers:
                self._expect_takeover(deadline)
            else:
                self._carrier.push(deadline)
                self._carrier.pull(deadline)
        # The last messages of the handshake are sent also after a failed verification.
        self._carrier.push(deadline)
        self._forget_message()
        self._verify()
        self._is_ready = True
        self._count(1)

    def _begin(self):
        self._count(0)
        if self._has_socket and self._take_over_socket():
            return
        self._session = self._new_session()
        wire = SocketWire(self._descriptor) if self._has_socket else BufferWire(*self._buffers)
        self._carrier = Pump(self._session, wire)
        self._session.start(self._settings())

    def _take_over_socket(self):
        """Passes the socket to the edge process, if it leads outside. Returns whether that is so."""
        sock, fd = self._sock(), self._descriptor()
        try:
            own, peer = sock.getsockname(), sock.getpeername()
        except OSError:
            # The session reports the failure of the connection.
            own = peer = None
        attached = takeover.attach(fd)
        if attached is None:
            return False
        descriptor, arrived = attached
        kernel.replace(fd, descriptor)
        # The descriptor is now the session's, whose names are empty.
        if peer is not None:
            sock.getsockname, sock.getpeername = (lambda: own), (lambda: peer)
        self._session = self._new_session()
        self._session.start(self._settings())
        self._session.receive_encrypted(arrived)
        self._session.end_encrypted()
        self._carrier = Attached(self._session, self._descriptor)
        return True

    def _expect_takeover(self, deadline):
        """Makes the client's first message, which may lead to `take_over`."""
        outgoing = self._buffers[1]
        self._carrier.push(deadline)
        self._message = outgoing.peek()
        if self._message:
            takeover.expect(self._message, self)

    def take_over(self, fd):
        """Replaces the session by a session that is attached to the connection `fd`, if the
        connection leads outside. Returns whether that is so."""
        attached = takeover.attach(fd)
        if attached is None:
            return False
        descriptor, arrived = attached
        self._carrier.close()
        self._session = self._new_session()
        self._session.start(self._settings())
        passage = takeover.Passage(fd, descriptor)
        self._carrier = Tunnel(self._session, *self._buffers, passage, arrived)
        return True

    def _forget_message(self):
        if self._message:
            takeover.forget(self._message)

    def _new_session(self):
        return Session(self._context._write_key_line)

    def _settings(self):
        settings = self._context._settings(self.server_side)
        name = self.server_hostname
        if not self.server_side and name is not None and hostnames.address_of(name) is None:
            settings["serverName"] = name
        if self._ticket is not None and self._ticket.has_ticket:
            settings["session"] = self._ticket._ticket
        return settings

    def _choose(self, session):
        """Calls the program's function for the name of the server, and continues."""
        context = self._context
        callback = context.sni_callback
        result = None
        if callback is not None:
            owner = self.owner
            result = "no owner" if owner is None else callback(owner, session.hello["serverName"], context)
        if result is not None:
            raise errors.library_error("callback failed")
        session.go_on({} if self._context is context else self._context._choices())

    def _push_rest(self, deadline):
        """Sends the alert of a failed session, if the connection accepts it."""
        try:
            self._carrier.push(deadline)
        except OSError:
            pass

    def _verify(self):
        facts, context = self._session.facts, self._context
        self._peer_chain = [certificates.Certificate(bytes.fromhex(text)) for text in facts["chain"]]
        if context.verify_mode == CERT_NONE or (self.server_side and not self._peer_chain):
            return
        if facts["verified"] is not None:
            raise self._fail(errors.verification_failure(facts["verified"]))
        if context.check_hostname and not self.server_side and self.server_hostname is not None:
            try:
                hostnames.check(self._peer_chain[0], self.server_hostname, context._host_flags)
            except errors.SSLCertVerificationError as error:
                raise self._fail(error)

    def _fail(self, error):
        """Ends the session with an error, which later calls raise too."""
        self._session.error = error
        self._session.facts = None
        return error

    def read(self, size, buffer=None, /):
        """Returns at most `size` bytes, or stores them in `buffer` and returns their number."""
        if buffer is None:
            if size < 0:
                raise ValueError("size should not be negative")
            return self._read(size) if size else b""
        with memoryview(buffer) as view, view.cast("B") as octets:
            count = size if 0 < size <= len(octets) else len(octets)
            data = self._read(count) if count else b""
            octets[: len(data)] = data
            return len(data)

    def _read(self, size):
        deadline = self._deadline()
        self._shake_hands(deadline)
        session = self._session
        while not session.plain:
            if session.error is not None:
                raise session.error
            if session.has_ended:
                return b""
            if session.is_cut:
                return self._end_of_connection()
            self._carrier.pull(deadline)
        return session.take_plain(size)

    def _end_of_connection(self):
        """The peer has ended the connection, and not TLS before. A tunnel's program receives no
        end of the connection, so TLS ends."""
        if isinstance(self._carrier, Tunnel) or self._context.options & OP_IGNORE_UNEXPECTED_EOF:
            return b""
        raise errors.unexpected_end()

    def write(self, data, /):
        """Writes bytes. Returns their number."""
        deadline = self._deadline()
        self._shake_hands(deadline)
        if self._session.error is not None:
            raise self._session.error
        if self._end_is_sent:
            raise errors.library_error("protocol is shutdown")
        with memoryview(data) as view, view.cast("B") as octets:
            if self._unwritten:
                # OpenSSL also has the bytes of the first call.
                self._carrier.push(deadline)
                count, self._unwritten = self._unwritten, 0
                return count
            return self._write(octets, deadline)

    def _write(self, octets, deadline):
        self._carrier.push(deadline)
        for at in range(0, len(octets), PIECE):
            piece = octets[at : at + PIECE]
            self._session.write(piece)
            try:
                self._carrier.push(deadline)
            except errors.SSLWantWriteError:
                self._unwritten = len(piece)
                if at > 0:
                    return at
                raise
            if deadline.never_waits and self._has_socket:
                return len(piece)
        return len(octets)

    def shutdown(self):
        """Ends TLS, and waits for the peer's end. Returns the socket."""
        deadline = self._deadline()
        if not self._is_ready:
            raise errors.library_error("uninitialized" if self._session is None else "shutdown while in init")
        session = self._session
        if not self._end_is_sent:
            self._end_is_sent = True
            session.end()
        self._carrier.push(deadline)
        while not session.is_over:
            self._carrier.pull(deadline)
            if session.plain:
                raise errors.library_error("application data after close notify")
        if session.error is not None:
            raise session.error
        if not session.has_ended and not isinstance(self._carrier, Tunnel):
            raise errors.unexpected_end()
        return self._sock() if self._has_socket else None

    def pending(self):
        """Returns the number of bytes that a read returns without the peer."""
        return 0 if self._session is None else len(self._session.plain)

    def getpeercert(self, binary_mode=False, /):
        """Returns the peer's certificate as a dictionary or in DER."""
        if not self._is_ready:
            raise ValueError("handshake not done yet")
        if not self._peer_chain:
            return None
        certificate = self._peer_chain[0]
        if binary_mode:
            return certificate.der
        return {} if self._context.verify_mode == CERT_NONE else certificate.get_info()

    def get_verified_chain(self):
        """Returns the peer's certificates, and their authority."""
        return list(self._peer_chain) or None

    get_unverified_chain = get_verified_chain

    def cipher(self):
        """Returns the suite: name, version and the size of its key."""
        if self._facts is None:
            return None
        name = self._facts["cipher"]
        return name, ciphers.version_of(name), ciphers.bits_of(name)

    def shared_ciphers(self):
        """Returns the suites that a server shares with its client, of which the chosen is known."""
        cipher = self.cipher()
        return [cipher] if self.server_side and cipher is not None else None

    def version(self):
        """Returns the version, such as TLSv1.3."""
        return None if self._facts is None else self._facts["protocol"]

    def selected_alpn_protocol(self):
        """Returns the protocol that both ends have chosen."""
        return None if self._facts is None else self._facts["alpn"]

    def compression(self):
        """Returns None, because no session is compressed."""
        return None

    def get_channel_binding(self, cb_type="tls-unique"):
        """Returns None: the edge process does not report the last messages of the handshake."""
        if cb_type != "tls-unique":
            raise ValueError(f"'{cb_type}' channel binding type not implemented")
        return None

    def verify_client_post_handshake(self):
        raise NotImplementedError("Post-handshake authentication is not available")

    def _deadline(self):
        if not self._has_socket:
            return kernel.NEVER
        sock = self._sock()
        return kernel.NEVER if sock is None else kernel.Deadline(sock.gettimeout())

    def _count(self, index):
        names = _SERVER_COUNTS if self.server_side else _CLIENT_COUNTS
        self._context._counts[names[index]] += 1
        if index and self.session_reused:
            self._context._counts["hits"] += 1


def _descriptor_of(sock):
    """Returns the descriptor of the socket behind a weak reference."""
    found = sock()
    fd = -1 if found is None else found.fileno()
    if fd < 0:
        raise errors.SSLError(errors.SSL_ERROR_SSL, "Underlying socket connection gone")
    return fd


def _reference(value):
    return (lambda: None) if value is None else weakref.ref(value)
