"""_SSLContext: the settings of sessions. The edge process receives the settings with each session
(crate `edge`, tls/settings.rs). Next: authorities, identities.
"""

import operator
import os
import warnings

from . import carriers, ciphers, constants as c, identities
from .authorities import Authorities
from .certificates import blocks_of
from .connection import _SSLSocket
from .errors import SSLError, library_error
from .session import Session

_VERSIONS = {c.PROTO_TLSv1: "TLSv1", c.PROTO_TLSv1_1: "TLSv1.1", c.PROTO_TLSv1_2: "TLSv1.2", c.PROTO_TLSv1_3: "TLSv1.3"}
_LIMITS = (c.PROTO_MINIMUM_SUPPORTED, c.PROTO_MAXIMUM_SUPPORTED, c.PROTO_SSLv3)
# The protocols with one version.
_SINGLE = {c.PROTOCOL_TLSv1: c.PROTO_TLSv1, c.PROTOCOL_TLSv1_1: c.PROTO_TLSv1_1, c.PROTOCOL_TLSv1_2: c.PROTO_TLSv1_2}
_PROTOCOLS = (c.PROTOCOL_TLS, c.PROTOCOL_TLS_CLIENT, c.PROTOCOL_TLS_SERVER, *_SINGLE)
_DEFAULT_OPTIONS = (
    c.OP_ALL
    | c.OP_NO_SSLv3
    | c.OP_CIPHER_SERVER_PREFERENCE
    | c.OP_NO_COMPRESSION
    | c.OP_ENABLE_MIDDLEBOX_COMPAT
)
_NO_VERSIONS = c.OP_NO_SSLv3 | c.OP_NO_TLSv1 | c.OP_NO_TLSv1_1 | c.OP_NO_TLSv1_2 | c.OP_NO_TLSv1_3
_DEPRECATED_PROTOCOLS = {c.PROTOCOL_TLS: "PROTOCOL_TLS"} | {
    c.PROTOCOL_TLSv1: "PROTOCOL_TLSv1",
    c.PROTOCOL_TLSv1_1: "PROTOCOL_TLSv1_1",
    c.PROTOCOL_TLSv1_2: "PROTOCOL_TLSv1_2",
}
_DEPRECATED_VERSIONS = {c.PROTO_SSLv3: "SSLv3", c.PROTO_TLSv1: "TLSv1", c.PROTO_TLSv1_1: "TLSv1_1"}
# The caller of a method of the library's SSLContext.
_CALLER = 4
_CURVES = ("X25519", "prime256v1", "secp256r1", "P-256", "secp384r1", "P-384")
_OPTIONS_END = 1 << 64
_TICKET_KEYS_SIZE = 48


class _SSLContext:
    """The settings of the sessions of clients or of servers."""

    def __new__(cls, protocol, /):
        if protocol not in _PROTOCOLS:
            raise ValueError("invalid or unsupported protocol version")
        if protocol in _DEPRECATED_PROTOCOLS:
            _warn(f"ssl.{_DEPRECATED_PROTOCOLS[protocol]} is deprecated")
        self = super().__new__(cls)
        self.__protocol = protocol
        is_client = protocol == c.PROTOCOL_TLS_CLIENT
        self.__verify_mode = c.CERT_REQUIRED if is_client else c.CERT_NONE
        self.__check_hostname = is_client
        self.__verify_flags = c.VERIFY_X509_TRUSTED_FIRST
        self.__options = _DEFAULT_OPTIONS
        self.__minimum = _SINGLE.get(protocol, c.PROTO_TLSv1_2)
        self.__maximum = _SINGLE.get(protocol, c.PROTO_MAXIMUM_SUPPORTED)
        self.__suites = list(ciphers.SUITES_12)
        self.__groups = None
        self.__protocols = []
        self.__sni_callback = None
        self.__key_log = None
        self.__ticket_keys = None
        self.__tickets = 2
        self._authorities = Authorities()
        self._identities = []
        self._host_flags = c.HOSTFLAG_NO_PARTIAL_WILDCARDS
        self._msg_callback_function = None
        self._counts = dict.fromkeys(("connect", "connect_good", "accept", "accept_good", "hits"), 0)
        # A subclass may have a property of the public name, such as the one of truststore.
        self.__post_handshake_auth = False
        return self

    protocol = property(lambda self: self.__protocol)
    security_level = property(lambda self: 2)

    @property
    def post_handshake_auth(self):
        return self.__post_handshake_auth

    @post_handshake_auth.setter
    def post_handshake_auth(self, value):
        self.__post_handshake_auth = bool(value)

    @property
    def options(self):
        return self.__options

    @options.setter
    def options(self, value):
        value = operator.index(value)
        if not 0 <= value < _OPTIONS_END:
            raise OverflowError("options must be an unsigned 64-bit integer")
        if value & ~self.__options & _NO_VERSIONS:
            _warn("ssl.OP_NO_SSL*/ssl.OP_NO_TLS* options are deprecated")
        self.__options = value

    @property
    def verify_flags(self):
        return self.__verify_flags

    @verify_flags.setter
    def verify_flags(self, value):
        self.__verify_flags = int(value)

    @property
    def verify_mode(self):
        return self.__verify_mode

    @verify_mode.setter
    def verify_mode(self, value):
        value = operator.index(value)
        if value not in (c.CERT_NONE, c.CERT_OPTIONAL, c.CERT_REQUIRED):
            raise ValueError("invalid value for verify_mode")
        if value == c.CERT_NONE and self.__check_hostname:
            raise ValueError("Cannot set verify_mode to CERT_NONE when check_hostname is enabled.")
        self.__verify_mode = value

    @property
    def check_hostname(self):
        return self.__check_hostname

    @check_hostname.setter
    def check_hostname(self, value):
        self.__check_hostname = bool(value)
        if self.__check_hostname and self.__verify_mode == c.CERT_NONE:
            self.__verify_mode = c.CERT_REQUIRED

    @property
    def minimum_version(self):
        return self.__minimum

    @minimum_version.setter
    def minimum_version(self, value):
        # The lowest limit is kept as it is, and the highest is a version.
        self.__minimum = self.__version(c.PROTO_TLSv1_3 if value == c.PROTO_MAXIMUM_SUPPORTED else value)

    @property
    def maximum_version(self):
        return self.__maximum

    @maximum_version.setter
    def maximum_version(self, value):
        self.__maximum = self.__version(c.PROTO_TLSv1_2 if value == c.PROTO_MINIMUM_SUPPORTED else value)

    def __version(self, value):
        if self.__protocol in _SINGLE:
            raise ValueError("The context's protocol doesn't support modification of highest and lowest version.")
        if value not in _VERSIONS and value not in _LIMITS:
            raise ValueError(f"Unsupported TLS/SSL version {value:#x}")
        if value in _DEPRECATED_VERSIONS:
            _warn(f"ssl.TLSVersion.{_DEPRECATED_VERSIONS[value]} is deprecated", _CALLER + 1)
        return int(value)

    @property
    def num_tickets(self):
        return self.__tickets

    @num_tickets.setter
    def num_tickets(self, value):
        if value < 0:
            raise ValueError("value must be non-negative")
        if self.__protocol != c.PROTOCOL_TLS_SERVER:
            raise ValueError("SSLContext is not a server context.")
        self.__tickets = value

    @property
    def sni_callback(self):
        return self.__sni_callback

    @sni_callback.setter
    def sni_callback(self, value):
        if self.__protocol == c.PROTOCOL_TLS_CLIENT:
            raise ValueError("sni_callback cannot be set on TLS_CLIENT context")
        if value is not None and not callable(value):
            raise TypeError("not a callable object")
        self.__sni_callback = value

    @property
    def keylog_filename(self):
        return self.__key_log

    @keylog_filename.setter
    def keylog_filename(self, path):
        if path is not None:
            with open(path, "a"):
                self.__key_log = path
        self.__key_log = path

    @property
    def _msg_callback(self):
        return self._msg_callback_function

    @_msg_callback.setter
    def _msg_callback(self, value):
        self._msg_callback_function = value

    def set_ciphers(self, cipherlist, /):
        """Chooses suites of TLS 1.2. All suites of TLS 1.3 stay available."""
        self.__suites = ciphers.chosen(cipherlist)

    def get_ciphers(self):
        """Returns descriptions of the suites."""
        return [ciphers.description(name) for name in (*ciphers.SUITES_13, *self.__suites)]

    def set_ecdh_curve(self, name, /):
        """Sets the group of the key exchange."""
        text = os.fsdecode(name)
        if text not in _CURVES:
            raise ValueError(f"unknown elliptic curve name {text!r}")
        self.__groups = [text]

    def load_dh_params(self, filepath, /):
        """Checks the file, and has no other effect: no suite has parameters of Diffie-Hellman."""
        with open(os.fspath(filepath), encoding="latin-1") as file:
            if not blocks_of(file.read(), "DH PARAMETERS"):
                raise library_error("no start line", 1, "PEM")

    def _set_alpn_protocols(self, protos, /):
        rest, names = bytes(protos), []
        while rest:
            names.append(rest[1 : 1 + rest[0]].decode("latin-1"))
            rest = rest[1 + rest[0] :]
        self.__protocols = names

    def set_psk_client_callback(self, callback):
        raise NotImplementedError("TLS-PSK is not available")

    set_psk_server_callback = set_psk_client_callback

    def load_cert_chain(self, certfile, keyfile=None, password=None):
        """Reads the own certificate, its chain and its key."""
        self._identities.append(identities.load(certfile, certfile if keyfile is None else keyfile, password))

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        """Reads trusted certificates."""
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata cannot be all omitted")
        if cadata is not None:
            if not isinstance(cadata, (str, bytes, bytearray, memoryview)):
                raise TypeError("cadata should be an ASCII string or a bytes-like object")
            self._authorities.load_data(cadata)
        if cafile is not None:
            self._authorities.load_file(cafile)
        if capath is not None:
            self._authorities.load_folder(capath)

    def set_default_verify_paths(self):
        """Trusts the operator's authorities."""
        self._authorities.load_defaults()

    def get_ca_certs(self, binary_form=False):
        """Returns the trusted authorities as dictionaries or in DER."""
        found = [one for one in self._trusted() if one.is_authority]
        return [one.der if binary_form else one.get_info() for one in found]

    def cert_store_stats(self):
        """Returns the numbers of trusted certificates and of lists of revoked certificates."""
        found = self._trusted()
        authorities = sum(one.is_authority for one in found)
        return {"x509": len(found), "crl": self._authorities.list_count, "x509_ca": authorities}

    def _trusted(self):
        return self._authorities.certificates(_ask)

    def session_stats(self):
        """Returns the numbers of handshakes."""
        others = ("number", "connect_renegotiate", "accept_renegotiate", "misses", "timeouts", "cache_full")
        return dict.fromkeys(others, 0) | self._counts

    def _wrap_socket(self, sock, server_side, server_hostname=None, *, owner=None, session=None):
        return self._wrap(server_side, server_hostname, owner, session, sock=sock)

    def _wrap_bio(self, incoming, outgoing, server_side, server_hostname=None, *, owner=None, session=None):
        return self._wrap(server_side, server_hostname, owner, session, buffers=(incoming, outgoing))

    def _wrap(self, server_side, server_hostname, owner, session, **ends):
        if server_side and self.__protocol == c.PROTOCOL_TLS_CLIENT:
            raise _wrong_side("Cannot create a server socket with a PROTOCOL_TLS_CLIENT context")
        if not server_side and self.__protocol == c.PROTOCOL_TLS_SERVER:
            raise _wrong_side("Cannot create a client socket with a PROTOCOL_TLS_SERVER context")
        if server_hostname is not None and (not server_hostname or server_hostname.startswith(".")):
            raise ValueError("server_hostname cannot be an empty string or start with a leading dot.")
        if server_hostname is not None and "\0" in server_hostname:
            raise TypeError("embedded null character")
        connection = _SSLSocket(self, bool(server_side), server_hostname, owner, **ends)
        if session is not None:
            connection.session = session
        return connection

    def _settings(self, is_server):
        """Returns the settings of a session that do not depend on the connection."""
        options, verifies = self.__options, self.__verify_mode != c.CERT_NONE
        first = _VERSIONS.get(self.__minimum)
        last = _VERSIONS.get(self.__maximum)
        if options & c.OP_NO_TLSv1_2:
            first = "TLSv1.3"
        if options & c.OP_NO_TLSv1_3 and last in (None, "TLSv1.3"):
            last = "TLSv1.2"
        settings = {
            "isServer": is_server,
            "alpn": self.__protocols,
            "minVersion": first,
            "maxVersion": last,
            "ciphers": [*ciphers.SUITES_13, *self.__suites],
            "groups": self.__groups,
            "partialChain": bool(self.__verify_flags & c.VERIFY_X509_PARTIAL_CHAIN),
            "keyLog": self.__key_log is not None,
            "identities": self._identity_settings(),
        }
        if verifies:
            uses_lists = self.__verify_flags & c.VERIFY_CRL_CHECK_LEAF
            settings |= self._authorities.settings(uses_lists)
        else:
            settings["ca"] = []
        if is_server:
            settings["pauses"] = self.__sni_callback is not None
            settings["requestCert"] = verifies
            settings["requireCert"] = self.__verify_mode == c.CERT_REQUIRED
            settings["ticketKeys"] = self._ticket_keys()
        return settings

    def _choices(self):
        """Returns the settings that another context of a server replaces."""
        choices = {"identities": self._identity_settings(), "alpn": self.__protocols}
        if self.__verify_mode != c.CERT_NONE and not self._authorities.has_defaults:
            choices["ca"] = self._authorities.settings(False)["ca"]
        return choices

    def _identity_settings(self):
        return [identity.settings(self._authorities) for identity in self._identities]

    def _ticket_keys(self):
        """Returns the keys of the context's tickets, so that only its own sessions are resumed."""
        if self.__ticket_keys is None:
            self.__ticket_keys = os.urandom(_TICKET_KEYS_SIZE).decode("latin-1")
        return self.__ticket_keys

    def _write_key_line(self, line):
        """Writes a line of the key log."""
        if self.__key_log is not None:
            with open(self.__key_log, "a") as file:
                file.write(line)


def _warn(text, level=_CALLER):
    warnings.warn(text, DeprecationWarning, level)


def _wrong_side(text):
    return SSLError(1, text)


def _ask(request):
    """Returns the reply of the edge process to a request that belongs to no connection."""
    pump = carriers.Pump(Session(), None)
    try:
        return pump.ask(request)
    finally:
        pump.close()
