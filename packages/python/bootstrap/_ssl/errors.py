"""The errors of TLS, with OpenSSL's texts and numbers.

The edge process reports a reason in OpenSSL's words, such as "no shared cipher". Programs compare
`SSLError.reason`, which is the reason in capitals. Next: context.
"""

from .constants import SSL_ERROR_EOF, SSL_ERROR_SSL, SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE


class SSLError(OSError):
    """An error occurred in the SSL implementation."""

    reason = None
    library = None

    def __str__(self):
        return self.strerror if isinstance(self.strerror, str) else str(self.args)


class SSLZeroReturnError(SSLError):
    """SSL/TLS session closed cleanly."""


class SSLWantReadError(SSLError):
    """Non-blocking SSL socket needs to read more data
    before the requested operation can be completed."""


class SSLWantWriteError(SSLError):
    """Non-blocking SSL socket needs to write more data
    before the requested operation can be completed."""


class SSLSyscallError(SSLError):
    """System error when attempting SSL operation."""


class SSLEOFError(SSLError):
    """SSL/TLS connection terminated abruptly."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate could not be verified."""


for _error in (SSLError, *SSLError.__subclasses__()):
    _error.__module__ = "ssl"
del _error

# OpenSSL's numbers and texts of a failed verification.
_VERIFICATION = {
    "UNSPECIFIED": (1, "unspecified certificate verification error"),
    "UNABLE_TO_GET_ISSUER_CERT": (2, "unable to get issuer certificate"),
    "UNABLE_TO_GET_CRL": (3, "unable to get certificate CRL"),
    "CERT_SIGNATURE_FAILURE": (7, "certificate signature failure"),
    "CRL_SIGNATURE_FAILURE": (8, "CRL signature failure"),
    "CERT_NOT_YET_VALID": (9, "certificate is not yet valid"),
    "CERT_HAS_EXPIRED": (10, "certificate has expired"),
    "CRL_NOT_YET_VALID": (11, "CRL is not yet valid"),
    "CRL_HAS_EXPIRED": (12, "CRL has expired"),
    "DEPTH_ZERO_SELF_SIGNED_CERT": (18, "self-signed certificate"),
    "SELF_SIGNED_CERT_IN_CHAIN": (19, "self-signed certificate in certificate chain"),
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY": (20, "unable to get local issuer certificate"),
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE": (21, "unable to verify the first certificate"),
    "CERT_CHAIN_TOO_LONG": (22, "certificate chain too long"),
    "CERT_REVOKED": (23, "certificate revoked"),
    "PATH_LENGTH_EXCEEDED": (25, "path length constraint exceeded"),
    "INVALID_PURPOSE": (26, "unsuitable certificate purpose"),
    "UNHANDLED_CRITICAL_EXTENSION": (34, "unhandled critical extension"),
    "KEYUSAGE_NO_CRL_SIGN": (35, "key usage does not include CRL signing"),
    "UNHANDLED_CRITICAL_CRL_EXTENSION": (36, "unhandled critical CRL extension"),
    "PERMITTED_VIOLATION": (47, "permitted subtree violation"),
    "EXCLUDED_VIOLATION": (48, "excluded subtree violation"),
    "INVALID_CA": (79, "invalid CA certificate"),
    # The operator's authorities accept the certificate for another host only.
    "ERR_TLS_CERT_ALTNAME_INVALID": (62, "hostname mismatch"),
}
HOSTNAME_MISMATCH = 62
ADDRESS_MISMATCH = 64


def library_error(reason, number=SSL_ERROR_SSL, library="SSL", text=None):
    """Makes the error of a reason such as "no shared cipher"."""
    name = reason.upper().replace(" ", "_").replace("SSL/TLS_ALERT", "SSLV3_ALERT")
    error = SSLError(number, f"[{library}: {name}] {text or reason}")
    error.reason, error.library = name, library
    return error


def pem_error():
    """Makes the error of a file that is not what it should be."""
    error = SSLError(9, "[SSL] PEM lib")
    error.library = "SSL"
    return error


def verification_error(code, text):
    """Makes the error of a certificate that is not accepted."""
    reason = "certificate verify failed"
    error = SSLCertVerificationError(SSL_ERROR_SSL, f"[SSL: CERTIFICATE_VERIFY_FAILED] {reason}: {text}")
    error.reason, error.library = "CERTIFICATE_VERIFY_FAILED", "SSL"
    error.verify_code, error.verify_message = code, text
    return error


def verification_failure(name):
    """Makes the error of a failed verification with OpenSSL's name of the failure."""
    return verification_error(*_VERIFICATION.get(name, (1, name.lower().replace("_", " "))))


def of_event(event):
    """Makes the error of a session that the edge process has ended."""
    if "code" in event:
        return verification_failure(event["code"])
    return library_error(event["reason"])


def want_read():
    """Makes the error of an operation that needs bytes of the peer."""
    return SSLWantReadError(SSL_ERROR_WANT_READ, "The operation did not complete (read)")


def want_write():
    """Makes the error of an operation whose bytes the socket does not accept."""
    return SSLWantWriteError(SSL_ERROR_WANT_WRITE, "The operation did not complete (write)")


def unexpected_end():
    """Makes the error of a connection that ends without the end of TLS."""
    return SSLEOFError(SSL_ERROR_EOF, "EOF occurred in violation of protocol")
