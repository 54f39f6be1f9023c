"""One session of a program: `_SSLSocket`, which `ssl.SSLSocket` and `ssl.SSLObject` wrap.

A session is opened at the first step of the handshake, because a socket may be wrapped before it is
connected. A session over a socket with a connection to the outside is attached. Each operation
moves bytes until it is complete. Before it would block, an operation waits for the socket's
timeout, or raises SSLWantReadError or SSLWantWriteError. Next: handoff, for `MemoryBIO`.
"""

import errno
import select
import time
import weakref

from . import carriers, certificates, ciphers, constants as c, errors, handoff, names
from .engine import Engine
from .sessions import SSLSession

_READ, _WRITE = select.POLLIN, select.POLLOUT


class _SSLSocket:
    """A session over a socket or over two `MemoryBIO`."""

    __module__ = "_ssl"

    def __init__(self, context, server_side, server_hostname, owner, session, sock=None, bios=None):
        if context._protocol == c.PROTOCOL_TLS_CLIENT and server_side:
            raise errors.SSLError("Cannot create a server socket with a PROTOCOL_TLS_CLIENT context")
        if context._protocol == c.PROTOCOL_TLS_SERVER and not server_side:
            raise errors.SSLError("Cannot create a client socket with a PROTOCOL_TLS_SERVER context")
        if server_hostname is not None and (not server_hostname or server_hostname.startswith(".")):
            raise ValueError("server_hostname cannot be an empty string or start with a leading dot.")
        self._context = context
        self.server_side = bool(server_side)
        self.server_hostname = server_hostname
        self._owner = None if owner is None else weakref.ref(owner)
        self._sock = None if sock is None else weakref.ref(sock)
        self._bios = bios
        self._engine = Engine()
        self._carrier = None
        self._session = None
        self._resumed = None
        # A server waits for the program's choice after the client's first message.
        self._pauses = False
        # The handshake has ended with success.
        self._is_secure = False
        self._error = None
        # The peer's certificate and its issuers.
        self._chain = []
        # The bytes of a write that waits for the connection.
        self._unfinished = None
        self._has_sent_end = False
        if session is not None:
            self.session = session

    @property
    def context(self):
        return self._context

    @context.setter
    def context(self, value):
        if not hasattr(value, "_settings"):
            raise TypeError("The value must be a SSLContext")
        self._context = value

    @property
    def owner(self):
        return None if self._owner is None else self._owner()

    @owner.setter
    def owner(self, value):
        self._owner = None if value is None else weakref.ref(value)

    @property
    def session(self):
        ticket = self._engine.ticket
        if ticket is not None and (self._session is None or self._session._ticket != ticket):
            self._session = SSLSession(ticket, self._context)
        elif self._session is None and self._is_secure:
            self._session = SSLSession(None, self._context)
        return self._session if self._is_secure else self._resumed

    @session.setter
    def session(self, value):
        if not isinstance(value, SSLSession):
            raise TypeError("Value is not a SSLSession.")
        if value._context is not self._context:
            raise ValueError("Session refers to a different SSLContext.")
        if self.server_side:
            raise ValueError("Cannot set session for server-side SSLSocket.")
        if self._carrier is not None:
            raise ValueError("Cannot set session after handshake.")
        self._resumed = value

    @property
    def session_reused(self):
        return bool(self._engine.facts and self._engine.facts["reused"])

    def do_handshake(self):
        """Continues the handshake to its end."""
        self._check_open()
        deadline = self._deadline()
        self._begin()
        while not self._is_secure:
            self._raise_failure()
            if self._engine.facts is not None:
                return self._complete(deadline)
            if self._pauses and self._engine.hello is not None:
                self._choose_context()
            elif not self._carrier.flush():
                self._wait(_WRITE, deadline, "_ssl.c: The handshake operation timed out")
            elif self._engine.facts is None and self._engine.failure is None and not (self._pauses and self._engine.hello):
                self._fill_in_handshake(deadline)
        return None

    def _fill_in_handshake(self, deadline):
        if self._engine.has_ended:
            raise errors.end_of_file()
        if not self._carrier.fill():
            self._wait(_READ, deadline, "_ssl.c: The handshake operation timed out")

    def _complete(self, deadline):
        facts = self._engine.facts
        self._chain = [certificates.Certificate(bytes.fromhex(text)) for text in facts["chain"]]
        code = self._verification_code(facts)
        if code is not None:
            self._error = errors.verification_error(code, self.server_hostname)
            self._close()
            raise self._error
        self._is_secure = True
        self._context._log_keys(self._engine.key_lines)
        self._context._count(self.server_side, True)
        # The last messages of the handshake.
        while not self._carrier.flush():
            self._wait(_WRITE, deadline, "_ssl.c: The handshake operation timed out")

    def _verification_code(self, facts):
        """Returns the code of a failed verification of the peer, or None."""
        if self._context._verify_mode == c.CERT_NONE:
            return None
        if self.server_side and not self._chain:
            return None
        if facts["verified"] is not None:
            return facts["verified"]
        if self.server_side or not self._context._checks_hostname:
            return None
        return names.mismatch(self._chain[0], self.server_hostname, self._context._host_flags)

    def _begin(self):
        if self._carrier is not None:
            return
        self._context._count(self.server_side, False)
        settings = self._context._settings(self.server_side)
        self._pauses = settings.get("pauses", False)
        # An address is no name of a server.
        if self.server_hostname and names.address_of(self.server_hostname) is None:
            settings["serverName"] = self.server_hostname
        if self._resumed is not None and self._resumed.has_ticket:
            settings["session"] = self._resumed._ticket
        self._engine.start(settings)
        if self._bios is not None:
            self._begin_over_bios()
            return
        sock = self._socket()
        addresses = _addresses_of(sock)
        try:
            self._carrier = carriers.Attached(self._engine, sock.fileno(), self._is_open)
        except OSError as error:
            if error.errno not in (errno.ENOTCONN, errno.EALREADY):
                raise
            self._carrier = carriers.Filter(self._engine, carriers.SocketBelow(sock.fileno()))
        else:
            sock.getsockname, sock.getpeername = addresses

    def _begin_over_bios(self):
        if self.server_side:
            self._carrier = carriers.Filter(self._engine, handoff.BIOBelow(*self._bios))
        else:
            self._carrier = handoff.Undecided(self._engine, self._bios, self._decide)

    def _decide(self, carrier):
        self._carrier = carrier

    def _choose_context(self):
        """Calls the program's callback with the name that a client has sent."""
        hello = self._engine.hello
        self._engine.hello = None
        callback, before = self._context._sni_callback, self._context
        result = callback(self.owner or self, hello["serverName"], before)
        if result is not None:
            self._close()
            self._error = errors.ssl_error("callback failed")
            raise self._error
        self._engine.go_on({} if self._context is before else self._context._choices())

    def read(self, len, buffer=None, /):
        """Reads at most `len` bytes, or into `buffer`."""
        self._check_open()
        size = len
        if buffer is not None:
            view = memoryview(buffer).cast("B")
            size = view.nbytes if size <= 0 or size > view.nbytes else size
        elif size < 0:
            raise ValueError("size should not be negative")
        if size and not self._receive():
            size = 0
        data = bytes(self._engine.plain[:size])
        del self._engine.plain[:size]
        if buffer is None:
            return data
        count = data.__len__()
        view[:count] = data
        return count

    def _receive(self):
        """Waits until plain bytes wait. Returns False at their end."""
        if self._engine.plain:
            return True
        self._ensure_secure()
        deadline = self._deadline()
        while not self._engine.plain:
            if self._engine.is_closed:
                return self._end_of_bios()
            self._raise_failure()
            if self._engine.has_ended:
                if self._context._options & c.OP_IGNORE_UNEXPECTED_EOF:
                    return self._end_of_bios()
                raise errors.end_of_file()
            self._carrier.flush()
            if not self._carrier.fill():
                self._wait(_READ, deadline, "The read operation timed out")
        return True

    def _end_of_bios(self):
        """As in OpenSSL, an end that follows our own `close_notify` is an error."""
        if self._has_sent_end:
            raise errors.zero_return()
        return False

    def write(self, data, /):
        """Writes some of the bytes, and returns their number."""
        self._check_open()
        self._ensure_secure()
        deadline = self._deadline()
        self._raise_failure()
        if self._has_sent_end:
            raise errors.ssl_error("protocol is shutdown")
        if self._unfinished is None:
            view = memoryview(data).cast("B")
            if not view.nbytes:
                return 0
            # A session inside this session.
            hello = handoff.hello_of(view)
            count = self._engine.send(view if hello is None else hello)
            self._unfinished = count if hello is None else view.nbytes
        # After an error the program calls again with the bytes, as with OpenSSL.
        while not self._carrier.flush():
            self._raise_failure()
            self._wait(_WRITE, deadline, "The write operation timed out")
        count, self._unfinished = self._unfinished, None
        return count

    def pending(self):
        """Returns the number of plain bytes that wait."""
        return len(self._engine.plain)

    def shutdown(self):
        """Ends the session, and returns the socket. The peer's end is awaited."""
        self._check_open()
        self._ensure_secure()
        deadline = self._deadline()
        if not self._has_sent_end:
            self._has_sent_end = True
            self._engine.end_sending()
        while not self._carrier.flush():
            self._wait(_WRITE, deadline, "The write operation timed out")
        while not self._engine.is_closed:
            self._raise_failure()
            if self._engine.has_ended:
                if self._context._options & c.OP_IGNORE_UNEXPECTED_EOF:
                    break
                raise errors.end_of_file()
            if not self._carrier.fill():
                self._wait(_READ, deadline, "The read operation timed out")
            # Bytes of the peer that the program did not read are lost.
            self._engine.plain.clear()
        self._close()
        return None if self._sock is None else self._sock()

    def version(self):
        """Returns the version of the established session, or None."""
        return self._engine.facts["protocol"] if self._is_secure else None

    def cipher(self):
        """Returns the suite of the established session, or None."""
        if not self._is_secure:
            return None
        name = self._engine.facts["cipher"]
        return (name, self._engine.facts["protocol"], ciphers.bits(name))

    def shared_ciphers(self):
        """Returns the suites of a server that its client may have, or None."""
        if not self.server_side or not self._is_secure:
            return None
        suites = self._context.get_ciphers()
        return [(one["name"], one["protocol"], one["strength_bits"]) for one in suites]

    def selected_alpn_protocol(self):
        """Returns the chosen protocol, or None."""
        return self._engine.facts["alpn"] if self._is_secure else None

    def compression(self):
        """Returns None, because no session compresses."""
        return None

    def get_channel_binding(self, cb_type="tls-unique"):
        """Returns None, because the edge process reports no `Finished` messages."""
        if cb_type != "tls-unique":
            raise ValueError(f"'{cb_type}' channel binding type not implemented")
        return None

    def verify_client_post_handshake(self):
        raise NotImplementedError("Post-handshake auth is not supported")

    def getpeercert(self, binary_mode=False, /):
        """Returns the peer's certificate: a dictionary, which is empty without a verification, or DER."""
        if not self._is_secure:
            raise ValueError("handshake not done yet")
        if not self._chain:
            return None
        if binary_mode:
            return self._chain[0].public_bytes(c.ENCODING_DER)
        return {} if self._context._verify_mode == c.CERT_NONE else self._chain[0].get_info()

    def get_unverified_chain(self):
        return list(self._chain) or None

    def get_verified_chain(self):
        verifies = self._context._verify_mode != c.CERT_NONE
        return self.get_unverified_chain() if verifies else self._chain[:1] or None

    def _socket(self):
        """Returns the socket. Raises an error if the socket is closed."""
        sock = self._sock()
        if sock is None or sock.fileno() < 0:
            raise errors.SSLError(c.SSL_ERROR_SYSCALL, "Underlying socket connection gone")
        return sock

    def _is_open(self):
        sock = self._sock and self._sock()
        return sock is not None and sock.fileno() >= 0

    def _check_open(self):
        if self._sock is not None:
            self._socket()

    def _ensure_secure(self):
        if self._error is not None:
            raise self._error
        if not self._is_secure:
            self.do_handshake()

    def _raise_failure(self):
        failure = self._engine.failure
        if failure is None:
            return
        if self._error is None:
            # The alert to the peer.
            if self._carrier is not None and "errno" not in failure:
                self._carrier.flush()
            self._error = errors.error_of(failure, self.server_hostname)
        raise self._error

    def _deadline(self):
        timeout = None if self._sock is None else self._socket().gettimeout()
        return None if timeout is None else time.monotonic() + timeout

    def _wait(self, mask, deadline, message):
        """Waits until the socket is ready. Raises if the program, or the time, does not allow to wait."""
        if self._sock is None or self._socket().gettimeout() == 0:
            raise errors.want_read() if mask == _READ else errors.want_write()
        seconds = None if deadline is None else deadline - time.monotonic()
        if (seconds is not None and seconds <= 0) or not carriers.wait(self._socket().fileno(), mask, seconds):
            raise TimeoutError(message)

    def _close(self):
        carrier, self._carrier = self._carrier, _CLOSED
        if carrier is not None:
            carrier.close()

    def __del__(self):
        self._close()


class _Closed:
    """The carrier after the end of a session."""

    def flush(self):
        return True

    def fill(self):
        raise errors.zero_return()

    def close(self):
        pass


_CLOSED = _Closed()


def _addresses_of(sock):
    """Returns the methods for the addresses of a connection whose descriptor becomes the session's."""
    local, peer = sock.getsockname(), sock.getpeername()
    return lambda: local, lambda: peer
