"""The module `_ssl` over sessions of TLS in the edge process, without OpenSSL.

CPython's own `ssl` imports this package. The edge process has the keys and verifies certificates,
so a program cannot weaken the operator's rules. The modules, in the order of a connection:

    constants     the numbers of `ssl`
    context       `_SSLContext`: the settings of sessions
    ciphers       lists of cipher suites
    certificates  PEM, and certificates as dictionaries; der and objects are its parts
    socket        `_SSLSocket`: the operations of a session
    carriers      moves bytes between a session and its connection
    handoff       finds the connection of a `MemoryBIO`
    engine        the state of a session
    records       the records between the program and a session
    names         compares the names of servers
    errors        the errors of `ssl`
"""

from . import constants
from .bio import MemoryBIO  # noqa: F401
from .certificates import Certificate  # noqa: F401
from .constants import *  # noqa: F403
from .constants import _DEFAULT_CIPHERS, _OPENSSL_API_VERSION  # noqa: F401
from .context import _contents, _SSLContext, get_default_verify_paths  # noqa: F401
from .errors import (  # noqa: F401
    SSLCertVerificationError,
    SSLEOFError,
    SSLError,
    SSLSyscallError,
    SSLWantReadError,
    SSLWantWriteError,
    SSLZeroReturnError,
)
from .objects import nid2obj, txt2obj  # noqa: F401
from .randomness import RAND_add, RAND_bytes, RAND_status  # noqa: F401
from .sessions import SSLSession  # noqa: F401
from .socket import _SSLSocket  # noqa: F401


def _test_decode_cert(path, /):
    """Decodes the certificate in a file, for the tests of CPython."""
    from . import certificates

    return certificates.parse(certificates.from_pem(_contents(path))[0]).get_info()
