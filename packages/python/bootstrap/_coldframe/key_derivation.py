"""`hashlib.pbkdf2_hmac` and `hashlib.scrypt`, which the sidecar computes in a job."""

import hashlib
import operator
import struct

import _coldframe_calls as calls

_BEGIN, _ADD, _WAIT, _READ, _FORGET = 0x310, 0x311, 0x313, 0x314, 0x315
_PBKDF2, _SCRYPT = 1, 3
_PART = 1 << 20
_FAULT = 4096
_MOST = 2**31 - 1
_SCRYPT_MEMORY = 32 << 20
# The numbers of packages/sidecar/crates/crypto/src/hash.rs.
_NAMES = (
    "md5 sha1 sha224 sha256 sha384 sha512 sha512_224 sha512_256 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s ripemd160"
).split()
_DIGESTS = {name: number for number, name in enumerate(_NAMES, 1)}


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Password based key derivation function 2 (PKCS #5 v2.0) with HMAC as pseudorandom function."""
    if not isinstance(hash_name, str):
        raise TypeError(f"pbkdf2_hmac() argument 'hash_name' must be str, not {type(hash_name).__name__}")
    name = hash_name.lower().replace("-", "_").replace("sha_", "sha").replace("/", "_")
    if name not in _DIGESTS:
        raise ValueError(f"unsupported hash type {hash_name}")
    iterations = operator.index(iterations)
    length = hashlib.new(name).digest_size if dklen is None else operator.index(dklen)
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    if length < 1:
        raise ValueError("key length must be greater than 0.")
    if max(iterations, length) > _MOST:
        raise OverflowError("iteration value or key length is too great.")
    return _run(_PBKDF2, _DIGESTS[name], _bytes(password), _bytes(salt), iterations, length)


def scrypt(password, *, salt, n, r, p, maxmem=0, dklen=64):
    """scrypt password-based key derivation function."""
    n, r, p, maxmem, dklen = (operator.index(value) for value in (n, r, p, maxmem, dklen))
    if n < 2 or n & (n - 1):
        raise ValueError("n must be a power of 2.")
    if not 0 <= maxmem <= _MOST:
        raise ValueError(f"maxmem must be positive and smaller than {_MOST}")
    if not 1 <= dklen <= _MOST:
        raise ValueError(f"dklen must be greater than 0 and smaller than {_MOST}")
    try:
        return _run(_SCRYPT, _bytes(password), _bytes(salt), n, r, p, maxmem or _SCRYPT_MEMORY, dklen)
    except OSError as error:
        if error.errno < _FAULT:
            raise
        raise ValueError("Invalid parameter combination for n, r, p, maxmem.") from None


def _run(command, *fields):
    """Runs a job with fields, which are numbers or bytes. Returns the job's result."""
    request = memoryview(b"".join(_field(value) for value in fields))
    job = calls.sys(_BEGIN, command, request[:_PART])
    for at in range(_PART, len(request), _PART):
        calls.sys(_ADD, job, request[at : at + _PART])
    result = bytearray(calls.wait(_WAIT, job))
    view = memoryview(result)
    at = 0
    while at < len(result):
        at += calls.sys(_READ, job, at, view[at : at + _PART])
    calls.sys(_FORGET, job)
    return bytes(result)


def _field(value):
    raw = struct.pack("<q", value) if isinstance(value, int) else value
    return struct.pack("<I", len(raw)) + raw


def _bytes(value):
    if isinstance(value, str):
        raise TypeError("a bytes-like object is required, not 'str'")
    return bytes(memoryview(value))


def install():
    """Adds the functions to `hashlib`."""
    for function in (pbkdf2_hmac, scrypt):
        function.__module__ = "hashlib"
        setattr(hashlib, function.__name__, function)
    hashlib.__all__ += ("pbkdf2_hmac",)


install()
