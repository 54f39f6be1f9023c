"""The errors of `ssl`, with the texts and numbers of OpenSSL. Next: socket.

A session reports its failure as OpenSSL's reason, and its verification as the name of OpenSSL's
code (crate `edge`, tls/alerts.rs and tls/verify.rs).
"""

import errno

from . import constants

# The codes of a failed verification: number and sentence.
VERIFICATIONS = {
    "UNABLE_TO_GET_ISSUER_CERT": (2, "unable to get issuer certificate"),
    "CERT_SIGNATURE_FAILURE": (7, "certificate signature failure"),
    "CERT_NOT_YET_VALID": (9, "certificate is not yet valid"),
    "CERT_HAS_EXPIRED": (10, "certificate has expired"),
    "DEPTH_ZERO_SELF_SIGNED_CERT": (18, "self-signed certificate"),
    "SELF_SIGNED_CERT_IN_CHAIN": (19, "self-signed certificate in certificate chain"),
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY": (20, "unable to get local issuer certificate"),
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE": (21, "unable to verify the first certificate"),
    "CERT_CHAIN_TOO_LONG": (22, "certificate chain too long"),
    "CERT_REVOKED": (23, "certificate revoked"),
    "INVALID_PURPOSE": (26, "unsuitable certificate purpose"),
    "ERR_TLS_CERT_ALTNAME_INVALID": (62, "Hostname mismatch, certificate is not valid for '{}'."),
    "HOSTNAME_MISMATCH": (62, "Hostname mismatch, certificate is not valid for '{}'."),
    "IP_ADDRESS_MISMATCH": (64, "IP address mismatch, certificate is not valid for '{}'."),
}


class SSLError(OSError):
    """An error occurred in the SSL implementation."""

    __module__ = "ssl"

    library = None
    reason = None

    def __str__(self):
        return self.strerror if isinstance(self.strerror, str) else str(self.args)


class SSLZeroReturnError(SSLError):
    """SSL/TLS session closed cleanly."""

    __module__ = "ssl"


class SSLWantReadError(SSLError):
    """Non-blocking SSL socket needs to read more data
    before the requested operation can be completed."""

    __module__ = "ssl"


class SSLWantWriteError(SSLError):
    """Non-blocking SSL socket needs to write more data
    before the requested operation can be completed."""

    __module__ = "ssl"


class SSLSyscallError(SSLError):
    """System error when attempting SSL operation."""

    __module__ = "ssl"


class SSLEOFError(SSLError):
    """SSL/TLS connection terminated abruptly."""

    __module__ = "ssl"


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate could not be verified."""

    __module__ = "ssl"


def want_read():
    return SSLWantReadError(constants.SSL_ERROR_WANT_READ, "The operation did not complete (read)")


def want_write():
    return SSLWantWriteError(constants.SSL_ERROR_WANT_WRITE, "The operation did not complete (write)")


def zero_return():
    return SSLZeroReturnError(constants.SSL_ERROR_ZERO_RETURN, "TLS/SSL connection has been closed (EOF)")


def end_of_file():
    return SSLEOFError(constants.SSL_ERROR_EOF, "EOF occurred in violation of protocol")


def ssl_error(reason, kind=SSLError, detail="", library="SSL"):
    """Makes an error with OpenSSL's reason in words."""
    name = reason.upper().replace(" ", "_").replace("-", "_")
    error = kind(constants.SSL_ERROR_SSL, f"[{library}: {name}] {reason}{detail}")
    error.library, error.reason = library, name
    return error


def verification_error(code, host):
    """Makes the error of a failed verification of the peer at `host`."""
    number, sentence = VERIFICATIONS.get(code, (1, code.replace("_", " ").lower()))
    sentence = sentence.format(host)
    error = ssl_error("certificate verify failed", SSLCertVerificationError, f": {sentence}")
    error.verify_code, error.verify_message = number, sentence
    return error


def error_of(event, host):
    """Makes the error of a failed session."""
    system = event.get("errno")
    if system == errno.ECONNRESET:
        return ConnectionResetError(system, "Connection reset by peer")
    if system is not None:
        return OSError(system, event["text"])
    if event.get("code") is not None:
        return verification_error(event["code"], host)
    return ssl_error(event["reason"])
