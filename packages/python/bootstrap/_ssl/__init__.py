"""The module below the standard library's `ssl`: TLS by sessions of the edge process.

CPython's `_ssl` is a layer over OpenSSL. This package has the same interface, and no cryptography:
the edge process encrypts, verifies certificates and keeps the keys (docs/network.md, "TLS"). The
library's own `ssl.py` works over this package without a change.

The package calls the kernel with `sys()` and `wait()` of `_coldframe_calls`. `select.select` must
wait for sessions too.

The modules, in the order of a connection:

    constants     the numbers of OpenSSL that `ssl` makes its enumerations from
    errors        the errors, with OpenSSL's reasons
    context       _SSLContext: the settings of sessions
    authorities   the trusted certificates of a context
    identities    the own certificates of a context, and their keys
    ciphers       the suites, and OpenSSL's lists that choose suites
    connection    _SSLSocket: one end of TLS
    session       the state of a session, and the records between the guest and the edge process
    carriers      the ways of the bytes between session, program and peer
    takeover      passes a connection to the outside to the edge process
    memory        MemoryBIO
    random_bytes  RAND_bytes
    tickets       SSLSession: the tickets of resumed sessions
    certificates  certificates as dictionaries; der and names read them
    hostnames     the names of hosts in certificates
    kernel        the calls of the kernel
"""

from .certificates import Certificate, decode_file as _test_decode_cert
from .connection import _SSLSocket
from .constants import *  # noqa: F403
from .constants import _DEFAULT_CIPHERS, _OPENSSL_API_VERSION
from .context import _SSLContext
from .authorities import default_paths as get_default_verify_paths
from .errors import (
    SSLCertVerificationError,
    SSLEOFError,
    SSLError,
    SSLSyscallError,
    SSLWantReadError,
    SSLWantWriteError,
    SSLZeroReturnError,
)
from .memory import MemoryBIO
from .names import nid2obj, txt2obj
from .random_bytes import RAND_add, RAND_bytes, RAND_status
from .tickets import SSLSession
