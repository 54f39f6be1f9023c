"""The own certificates of a context, and their keys.

The kernel reads and decrypts keys (crates/crypto, key/read.rs), and computes their public keys. A
key goes to the edge process with each session of its context. Next: ciphers.
"""

import struct

from . import der, kernel
from .certificates import Certificate, blocks_of, to_pem
from .errors import library_error, pem_error

# The commands of the kernel for keys.
_IMPORT = 9
_IMPORT_WITH_PASSPHRASE = 10
_PUBLIC_KEY = 11
_IS_PRIVATE = 1
_IS_PEM = 1
_UNKNOWN = -1

_RESULT_SIZE = 4 << 10
_MAX_PASSPHRASE = 1024


class Identity:
    """A certificate with its chain, and its key."""

    def __init__(self, chain, key):
        self.certificate = chain[0]
        self._chain, self._key = chain, key

    def settings(self, authorities):
        """Returns the settings of a session. A certificate without a chain gets its issuers from
        the context's authorities, as in OpenSSL."""
        chain = self._chain
        if len(chain) == 1:
            chain = chain + authorities.chain_of(self.certificate)
        return {"chain": "".join(one.public_bytes() for one in chain), "key": to_pem(self._key, "PRIVATE KEY")}


def load(certificate_path, key_path, password):
    """Reads a certificate and its key from files in PEM."""
    with open(certificate_path, encoding="latin-1") as file:
        text = file.read()
    try:
        chain = [Certificate(block) for block in blocks_of(text)]
    except der.DerError:
        chain = []
    if not chain:
        raise pem_error()
    with open(key_path, "rb") as file:
        key = _read_key(file.read(), password)
    public = _result(kernel.run(_PUBLIC_KEY, _request(key), _RESULT_SIZE))
    if public is not None and public != chain[0].public_key:
        raise library_error("key values mismatch", 116, "X509")
    return Identity(chain, key)


def _read_key(text, password):
    """Returns a private key in PKCS #8."""
    fields = (_IS_PRIVATE, _IS_PEM, _UNKNOWN, text)
    key = _result(kernel.run(_IMPORT, _request(*fields), _RESULT_SIZE))
    if key is None and b"ENCRYPTED" in text:
        passphrase = _passphrase_of(password)
        key = _result(kernel.run_job(_IMPORT_WITH_PASSPHRASE, _request(*fields, passphrase)))
    if key is None:
        raise pem_error()
    return key


def _passphrase_of(password):
    """Returns the passphrase: a text, bytes, or the result of a function."""
    if callable(password):
        password = password()
        if not isinstance(password, (str, bytes, bytearray)):
            raise TypeError("password callback must return a string")
    if password is None:
        # OpenSSL would ask for the passphrase on the terminal.
        raise pem_error()
    if not isinstance(password, (str, bytes, bytearray)):
        raise TypeError("password should be a string or callable")
    passphrase = password.encode() if isinstance(password, str) else bytes(password)
    if len(passphrase) > _MAX_PASSPHRASE:
        raise ValueError(f"password cannot be longer than {_MAX_PASSPHRASE} bytes")
    return passphrase


def _request(*fields):
    """Encodes the fields of a request to the kernel: a length and bytes each."""
    encoded = [struct.pack("<q", field) if isinstance(field, int) else bytes(field) for field in fields]
    return b"".join(struct.pack("<I", len(field)) + field for field in encoded)


def _result(data):
    """Returns the key in a result of the kernel: kind, whether the key is private, and DER."""
    if data is None:
        return None
    at, fields = 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        fields.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return fields[2]
