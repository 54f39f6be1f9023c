"""The settings of sessions: `_SSLContext`, the base of `ssl.SSLContext`. Next: socket.

The settings go to the edge process with each session, as the fields of tls/settings.rs. The
operator's authorities take the place of the machine's list. They also take the place of the list of
the package `certifi`, which most HTTP clients load, as they take the place of Node's list.
"""

import os

from . import carriers, certificates, ciphers, constants as c
from .bio import MemoryBIO
from .engine import Engine
from .errors import SSLError, ssl_error
from .socket import _SSLSocket

_VERSIONS = {
    c.PROTO_SSLv3: "SSLv3",
    c.PROTO_TLSv1: "TLSv1",
    c.PROTO_TLSv1_1: "TLSv1.1",
    c.PROTO_TLSv1_2: "TLSv1.2",
    c.PROTO_TLSv1_3: "TLSv1.3",
}
# The protocols with one version.
_EXACT = {c.PROTOCOL_TLSv1_2: c.PROTO_TLSv1_2}
# The least and the greatest version that a session has.
_LEAST = {c.PROTO_MINIMUM_SUPPORTED: c.PROTO_TLSv1_2}
_GREATEST = {c.PROTO_MAXIMUM_SUPPORTED: c.PROTO_TLSv1_3}
_REFUSED = ((c.OP_NO_TLSv1_2, c.PROTO_TLSv1_2), (c.OP_NO_TLSv1_3, c.PROTO_TLSv1_3))
_TICKET_KEYS_SIZE = 48
# The keys of `session_stats`.
_COUNTERS = (
    *("number", "connect", "connect_good", "connect_renegotiate", "accept", "accept_good"),
    *("accept_renegotiate", "hits", "misses", "timeouts", "cache_full"),
)
_GROUPS = ("prime256v1", "secp384r1", "secp521r1", "X25519", "x25519")

_CERT_FILE = "SSL_CERT_FILE"
_CERT_DIR = "SSL_CERT_DIR"


def get_default_verify_paths():
    """Returns the variables and paths of the default authorities."""
    return (_CERT_FILE, "/etc/ssl/cert.pem", _CERT_DIR, "/etc/ssl/certs")


class _SSLContext:
    """The settings of sessions."""

    __module__ = "_ssl"

    def __new__(cls, protocol, /):
        if protocol in (c.PROTOCOL_TLSv1, c.PROTOCOL_TLSv1_1):
            raise ssl_error("unsupported protocol")
        if protocol not in (c.PROTOCOL_TLS, c.PROTOCOL_TLS_CLIENT, c.PROTOCOL_TLS_SERVER, c.PROTOCOL_TLSv1_2):
            raise ValueError("invalid or unsupported protocol version")
        self = super().__new__(cls)
        is_client = protocol == c.PROTOCOL_TLS_CLIENT
        self._protocol = protocol
        self._verify_mode = c.CERT_REQUIRED if is_client else c.CERT_NONE
        self._checks_hostname = is_client
        self._verify_flags = c.VERIFY_X509_TRUSTED_FIRST
        self._host_flags = c.HOSTFLAG_NO_PARTIAL_WILDCARDS
        self._options = (
            c.OP_ALL | c.OP_NO_SSLv3 | c.OP_NO_COMPRESSION | c.OP_CIPHER_SERVER_PREFERENCE
            | c.OP_ENABLE_MIDDLEBOX_COMPAT | c.OP_IGNORE_UNEXPECTED_EOF
        )  # fmt: skip
        self._minimum = _EXACT.get(protocol, c.PROTO_TLSv1_2)
        self._maximum = _EXACT.get(protocol, c.PROTO_MAXIMUM_SUPPORTED)
        self._suites = list(ciphers.TLS12)
        self._groups = None
        self._alpn = []
        # The authorities by their DER, in the order of loading, and lists of revoked certificates.
        self._authorities = {}
        self._crls = []
        self._trusts_operator = False
        # The certificate with its chain and its key, in PEM.
        self._identity = None
        self._sni_callback = self._message_callback = None
        self._keylog_filename = None
        self._num_tickets = 2
        # Each context has its own keys, so that only its own sessions are resumed.
        self._ticket_keys = None
        self._counters = dict.fromkeys(_COUNTERS, 0)
        self.post_handshake_auth = False
        return self

    @property
    def protocol(self):
        return self._protocol

    @property
    def security_level(self):
        return 2

    @property
    def verify_mode(self):
        return self._verify_mode

    @verify_mode.setter
    def verify_mode(self, value):
        if value not in (c.CERT_NONE, c.CERT_OPTIONAL, c.CERT_REQUIRED):
            raise ValueError("invalid value for verify_mode")
        if value == c.CERT_NONE and self._checks_hostname:
            raise ValueError("Cannot set verify_mode to CERT_NONE when check_hostname is enabled.")
        self._verify_mode = int(value)

    @property
    def check_hostname(self):
        return self._checks_hostname

    @check_hostname.setter
    def check_hostname(self, value):
        self._checks_hostname = bool(value)
        if self._checks_hostname and self._verify_mode == c.CERT_NONE:
            self._verify_mode = c.CERT_REQUIRED

    @property
    def verify_flags(self):
        return self._verify_flags

    @verify_flags.setter
    def verify_flags(self, value):
        self._verify_flags = int(value)

    @property
    def options(self):
        return self._options

    @options.setter
    def options(self, value):
        if value < 0:
            raise OverflowError("can't convert negative value to unsigned int")
        self._options = int(value)

    @property
    def minimum_version(self):
        return self._minimum

    @minimum_version.setter
    def minimum_version(self, value):
        self._set_version("_minimum", value, _LEAST | _GREATEST)

    @property
    def maximum_version(self):
        return self._maximum

    @maximum_version.setter
    def maximum_version(self, value):
        self._set_version("_maximum", value, _LEAST)

    def _set_version(self, name, value, special):
        if self._protocol in _EXACT:
            raise ValueError("The context's protocol doesn't support modification of highest and lowest version.")
        value = int(value)
        if value not in _VERSIONS and value not in (c.PROTO_MINIMUM_SUPPORTED, c.PROTO_MAXIMUM_SUPPORTED):
            raise ValueError(f"Unsupported TLS/SSL version 0x{value & 0xFFFFFFFF:x}")
        setattr(self, name, special.get(value, value))

    @property
    def sni_callback(self):
        return self._sni_callback

    @sni_callback.setter
    def sni_callback(self, value):
        if self._protocol == c.PROTOCOL_TLS_CLIENT:
            raise ValueError("sni_callback cannot be set on TLS_CLIENT context")
        if value is not None and not callable(value):
            raise TypeError("not a callable object")
        self._sni_callback = value

    @property
    def num_tickets(self):
        return self._num_tickets

    @num_tickets.setter
    def num_tickets(self, value):
        if value < 0:
            raise ValueError("value must be non-negative")
        if self._protocol != c.PROTOCOL_TLS_SERVER:
            raise ValueError("SSLContext is not a server context.")
        self._num_tickets = value

    @property
    def keylog_filename(self):
        return self._keylog_filename

    @keylog_filename.setter
    def keylog_filename(self, value):
        if value is not None:
            # An unusable path fails now.
            open(value, "a").close()
        self._keylog_filename = value

    @property
    def _msg_callback(self):
        return self._message_callback

    @_msg_callback.setter
    def _msg_callback(self, value):
        # The edge process reports no messages of the handshake.
        self._message_callback = value

    def set_ciphers(self, cipherlist, /):
        """Chooses the suites of TLS 1.2. The suites of TLS 1.3 are always on."""
        self._suites = ciphers.chosen(cipherlist)

    def get_ciphers(self):
        """Returns the suites as dictionaries."""
        return [ciphers.described(name) for name in (*ciphers.TLS13, *self._suites)]

    def set_ecdh_curve(self, name, /):
        """Chooses the group of the key exchange."""
        name = name.decode() if isinstance(name, bytes) else name
        if name not in _GROUPS:
            raise ValueError(f"unknown elliptic curve name {name!r}")
        self._groups = [name]

    def load_dh_params(self, path, /):
        """Accepts parameters that no suite uses."""
        open(path, "rb").close()

    def _set_alpn_protocols(self, protos, /):
        names = []
        data = bytes(protos)
        while data:
            names.append(data[1 : 1 + data[0]].decode("latin-1"))
            data = data[1 + data[0] :]
        self._alpn = names

    def set_default_verify_paths(self):
        """Trusts the places of SSL_CERT_FILE and SSL_CERT_DIR, or the operator's authorities."""
        file, folder = os.environ.get(_CERT_FILE), os.environ.get(_CERT_DIR)
        if not file and not folder:
            self._trusts_operator = True
            return
        # OpenSSL ignores unusable defaults.
        for place in ({"cafile": file}, {"capath": folder}):
            try:
                if any(place.values()):
                    self.load_verify_locations(**place)
            except OSError:
                pass

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        """Trusts the authorities of a file, of a folder, or of data."""
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata cannot be all omitted")
        if cadata is not None:
            self._load_data(cadata)
        if cafile is not None and not self._is_public_list(os.fspath(cafile)):
            self._load_file(cafile)
        if capath is not None:
            with os.scandir(capath) as entries:
                for entry in entries:
                    if entry.is_file():
                        self._load_pem(_contents(entry.path))

    def _is_public_list(self, path):
        """Trusts the operator's authorities if `path` is the list of the package `certifi`."""
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        is_public = path.endswith("certifi/cacert.pem") and os.path.exists(path)
        self._trusts_operator = self._trusts_operator or is_public
        return is_public

    def _load_data(self, data):
        if isinstance(data, str):
            try:
                found = certificates.from_pem(data.encode("ascii"))
            except UnicodeEncodeError:
                raise TypeError("cadata should be an ASCII string or a bytes-like object") from None
            if not found:
                raise ssl_error("no start line", detail=": cadata does not contain a certificate", library="PEM")
        else:
            found = []
            rest = bytes(data)
            while rest:
                try:
                    certificate = certificates.Certificate(rest)
                except (ValueError, IndexError):
                    break
                found.append(certificate.public_bytes(c.ENCODING_DER))
                rest = rest[len(found[-1]) :]
            if not found:
                raise ssl_error("not enough data", detail=": cadata does not contain a certificate", library="ASN1")
        for der in found:
            self._trust(der)

    def _load_file(self, path):
        if not self._load_pem(_contents(path)):
            raise ssl_error("no certificate or crl found", library="X509")

    def _load_pem(self, data):
        found, lists = certificates.from_pem(data), certificates.crls(data)
        for der in found:
            self._trust(der)
        self._crls += lists
        return bool(found or lists)

    def _trust(self, der):
        if der not in self._authorities:
            self._authorities[der] = certificates.parse(der)

    def load_cert_chain(self, certfile, keyfile=None, password=None):
        """Loads the own certificate with its chain, and its key."""
        data = _contents(certfile)
        chain = certificates.from_pem(data)
        if not chain:
            raise SSLError("[SSL] PEM lib")
        key, public = certificates.private_key(data if keyfile is None else _contents(keyfile))
        own = certificates.parse(chain[0])
        if public and not own.has_key(public):
            raise ssl_error("key values mismatch", library="X509")
        self._identity = (own, [*map(certificates.parse, chain[1:])], key)

    def get_ca_certs(self, binary_form=False):
        """Returns the loaded authorities as dictionaries, or in DER."""
        found = [one for one in self._all_authorities() if one.is_authority]
        return [one.public_bytes(c.ENCODING_DER) if binary_form else one.get_info() for one in found]

    def cert_store_stats(self):
        """Returns the numbers of certificates, authorities and lists of revoked certificates."""
        found = self._all_authorities()
        return {"x509": len(found), "crl": len(self._crls), "x509_ca": sum(one.is_authority for one in found)}

    def session_stats(self):
        """Returns the numbers of handshakes."""
        return dict(self._counters)

    def _all_authorities(self):
        operators = _operators_authorities() if self._trusts_operator else []
        return [*operators, *(one for one in self._authorities.values() if one not in operators)]

    def set_psk_client_callback(self, callback):
        raise NotImplementedError("PSK callbacks are not supported")

    def set_psk_server_callback(self, callback, identity_hint=None):
        raise NotImplementedError("PSK callbacks are not supported")

    def _wrap_socket(self, sock, server_side, server_hostname=None, *, owner=None, session=None):
        return _SSLSocket(self, server_side, server_hostname, owner, session, sock=sock)

    def _wrap_bio(self, incoming, outgoing, server_side, server_hostname=None, *, owner=None, session=None):
        for one in (incoming, outgoing):
            if not isinstance(one, MemoryBIO):
                raise TypeError(f"argument must be _ssl.MemoryBIO, not {type(one).__name__}")
        return _SSLSocket(self, server_side, server_hostname, owner, session, bios=(incoming, outgoing))

    def _settings(self, is_server):
        """Returns the settings of a session."""
        refused = [version for option, version in _REFUSED if self._options & option]
        allowed = [one for one in (c.PROTO_TLSv1_2, c.PROTO_TLSv1_3) if one not in refused]
        maximum = c.PROTO_TLSv1_3 if self._maximum == c.PROTO_MAXIMUM_SUPPORTED else self._maximum
        allowed = [one for one in allowed if self._minimum <= one <= maximum]
        if not allowed:
            raise ssl_error("no protocols available")
        settings = {
            "isServer": is_server,
            "minVersion": _VERSIONS[allowed[0]],
            "maxVersion": _VERSIONS[allowed[-1]],
            "ciphers": [*ciphers.TLS13, *self._suites],
            "alpn": self._alpn,
            "partialChain": bool(self._verify_flags & c.VERIFY_X509_PARTIAL_CHAIN),
            "keyLog": self._keylog_filename is not None,
            **self._choices(),
        }
        if self._groups is not None:
            settings["groups"] = self._groups
        if self._verify_flags & c.VERIFY_CRL_CHECK_LEAF:
            settings["crl"] = self._crls
        if is_server:
            self._ticket_keys = self._ticket_keys or os.urandom(_TICKET_KEYS_SIZE).decode("latin-1")
            settings["ticketKeys"] = self._ticket_keys
            settings["requestCert"] = self._verify_mode != c.CERT_NONE
            settings["requireCert"] = self._verify_mode == c.CERT_REQUIRED
            settings["pauses"] = self._sni_callback is not None
        return settings

    def _choices(self):
        """Returns the settings that another context of a server replaces."""
        authorities = [one.public_bytes() for one in self._authorities.values()]
        key = "moreCa" if self._trusts_operator else "ca"
        return {key: authorities, "identities": self._identities()}

    def _identities(self):
        if self._identity is None:
            return []
        own, chain, key = self._identity
        # As in OpenSSL, a certificate without a chain gets its issuers from the authorities.
        last, rest = own, list(self._authorities.values()) if not chain else []
        found = list(chain)
        while not last.is_self_issued and (issuer := next(filter(last.is_issued_by, rest), None)):
            rest.remove(issuer)
            found.append(issuer)
            last = issuer
        return [{"chain": "".join(one.public_bytes() for one in (own, *found)), "key": key}]

    def _count(self, is_server, is_done):
        kind = "accept" if is_server else "connect"
        self._counters[f"{kind}_good" if is_done else kind] += 1

    def _log_keys(self, lines):
        if lines and self._keylog_filename is not None:
            with open(self._keylog_filename, "a", encoding="ascii") as file:
                file.writelines(lines)
        lines.clear()


def _contents(path):
    with open(path, "rb") as file:
        return file.read()


def _operators_authorities():
    """Asks the edge process for the operator's authorities. Without a network there are none."""
    engine = Engine()
    try:
        channel = carriers.Channel.open(engine)
    except OSError:
        return []
    try:
        engine.ask({"type": "roots"})
        channel.settle(lambda: engine.reply is not None)
    finally:
        channel.close()
    roots = (engine.reply or {}).get("roots", ())
    return [certificates.Certificate(der) for der in dict.fromkeys(map(bytes.fromhex, roots))]
