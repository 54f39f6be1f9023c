"""Certificates and keys: PEM, and the dictionary of `SSLSocket.getpeercert`. Next: context.

A certificate is decoded in the program, so that a wrong certificate harms only the program. The
session verifies the certificate.
"""

import binascii
import ipaddress
import re

from . import der, objects
from .constants import ENCODING_DER, ENCODING_PEM
from .errors import SSLError, ssl_error

_CERTIFICATE = re.compile(rb"-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----([^-]*)-----END")
_CRL = re.compile(rb"-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----\n?")
_KEY = re.compile(rb"-----BEGIN ((?:RSA |EC |ENCRYPTED )?PRIVATE KEY)-----([^-]*)-----END \1-----")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_BASIC_CONSTRAINTS = "2.5.29.19"
_ALTERNATIVE_NAMES = "2.5.29.17"
_DISTRIBUTION_POINTS = "2.5.29.31"
_INFORMATION_ACCESS = "1.3.6.1.5.5.7.1.1"
_OCSP = "1.3.6.1.5.5.7.48.1"
_ISSUERS = "1.3.6.1.5.5.7.48.2"
_RSA = "1.2.840.113549.1.1.1"
_CONSTRUCTED_3 = 0xA3
# A name that is a URI.
_URI = 0x86


class Certificate:
    """A certificate."""

    __module__ = "_ssl"

    def __init__(self, data):
        outer = der.first(data)
        # A trusted certificate of OpenSSL has further data after the certificate.
        self._bytes = outer.whole
        fields = outer.children[0].children
        self._version = 1
        if fields[0].tag == 0xA0:
            self._version = fields.pop(0).children[0].content[0] + 1
        self._serial, _, self._issuer, validity, self._subject, self._key, *rest = fields
        self._times = validity.children
        self._extensions = {}
        for element in rest:
            if element.tag == _CONSTRUCTED_3:
                for extension in element.children[0].children:
                    name, *_, value = extension.children
                    self._extensions[der.oid(name)] = value.content

    @property
    def is_authority(self):
        constraints = self._extensions.get(_BASIC_CONSTRAINTS)
        parts = der.first(constraints).children if constraints else []
        return bool(parts) and parts[0].tag == 1 and parts[0].content != b"\0"

    def is_issued_by(self, other):
        """Whether the names of the issuer and of the other certificate are equal."""
        return self._issuer.whole == other._subject.whole

    @property
    def is_self_issued(self):
        return self.is_issued_by(self)

    def public_bytes(self, format=ENCODING_PEM, /):
        """Returns the certificate in PEM, as a text, or in DER, as bytes."""
        if format == ENCODING_DER:
            return self._bytes
        if format != ENCODING_PEM:
            raise ValueError("Unsupported format")
        return to_pem(self._bytes)

    def get_info(self):
        """Returns the dictionary of `getpeercert`."""
        info = {
            "subject": _name(self._subject),
            "issuer": _name(self._issuer),
            "version": self._version,
            "serialNumber": _hex(self._serial.content),
            "notBefore": _time(self._times[0]),
            "notAfter": _time(self._times[1]),
        }
        alternatives = self.alternative_names()
        if alternatives:
            info["subjectAltName"] = alternatives
        for key, kind in (("OCSP", _OCSP), ("caIssuers", _ISSUERS)):
            found = self._access(kind)
            if found:
                info[key] = found
        points = self._distribution_points()
        if points:
            info["crlDistributionPoints"] = points
        return info

    def alternative_names(self):
        """Returns the alternative names as pairs of type and value."""
        extension = self._extensions.get(_ALTERNATIVE_NAMES)
        return tuple(map(_general_name, der.first(extension).children)) if extension else ()

    def common_names(self):
        return [value for part in _name(self._subject) for name, value in part if name == "commonName"]

    def _access(self, kind):
        extension = self._extensions.get(_INFORMATION_ACCESS)
        descriptions = [element.children for element in der.first(extension).children] if extension else []
        places = [place for method, place in descriptions if der.oid(method) == kind]
        return tuple(der.text(place) for place in places if place.tag == _URI)

    def _distribution_points(self):
        extension = self._extensions.get(_DISTRIBUTION_POINTS)
        points = der.first(extension).children if extension else []
        names = [part for point in points for part in point.children if part.tag == 0xA0]
        places = [place for name in names for full in name.children for place in full.children]
        return tuple(der.text(place) for place in places if place.tag == _URI)

    def has_key(self, numbers):
        """Whether the public key contains an encoding of the private key's public part."""
        return any(number in self._key.content for number in numbers)

    def __eq__(self, other):
        return isinstance(other, Certificate) and self._bytes == other._bytes

    def __hash__(self):
        return hash(self._bytes)

    def __repr__(self):
        return f"<_ssl.Certificate '{_name(self._subject)}'>"


def _hex(content):
    digits = content.hex().upper()
    return digits[2:] if len(content) > 1 and content[0] == 0 else digits


def _name(element):
    return tuple(tuple(map(_attribute, part.children)) for part in element.children)


def _attribute(pair):
    kind, value = pair.children
    return (objects.long_name(der.oid(kind)), der.text(value))


def _time(element):
    text = der.text(element)
    if element.tag == 0x17:
        text = ("20" if int(text[:2]) < 50 else "19") + text
    month = _MONTHS[int(text[4:6]) - 1]
    return f"{month} {int(text[6:8]):2} {text[8:10]}:{text[10:12]}:{text[12:14]} {text[:4]} GMT"


def _general_name(element):
    kind = element.tag & 0x1F
    if kind == 4:
        return ("DirName", _name(element.children[0]))
    if kind == 7:
        if len(element.content) not in (4, 16):
            return ("IP Address", "<invalid>")
        address = ipaddress.ip_address(element.content)
        if address.version == 4:
            return ("IP Address", str(address))
        # OpenSSL's text: groups without leading zeros, and no shortening.
        return ("IP Address", ":".join(f"{int(group, 16):X}" for group in address.exploded.split(":")))
    if kind == 8:
        return ("Registered ID", der.oid(element))
    names = {1: "email", 2: "DNS", 6: "URI"}
    return (names[kind], der.text(element)) if kind in names else ("othername", "<unsupported>")


def to_pem(data, label="CERTIFICATE"):
    """Returns DER as PEM."""
    body = binascii.b2a_base64(data, newline=False).decode()
    lines = "\n".join(body[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def from_pem(data):
    """Returns the certificates of a text in PEM, as DER."""
    try:
        return [binascii.a2b_base64(body) for body in _CERTIFICATE.findall(data)]
    except binascii.Error:
        raise ssl_error("bad base64 decode", library="PEM") from None


def crls(data):
    """Returns the lists of revoked certificates of a text in PEM."""
    return [found.decode() for found in _CRL.findall(data)]


def parse(data):
    """Decodes a certificate in DER."""
    try:
        return Certificate(data)
    except (ValueError, IndexError):
        raise ssl_error("ASN1 lib", library="PEM") from None


def private_key(data):
    """Returns the first private key of a text in PEM, and the encodings of its public part."""
    found = _KEY.search(data)
    if found is None:
        raise SSLError("[SSL] PEM lib")
    label, body = found[1].decode(), found[2]
    if label == "ENCRYPTED PRIVATE KEY" or b"Proc-Type:" in body:
        raise NotImplementedError("encrypted private keys are not supported; decrypt the key first")
    try:
        decoded = binascii.a2b_base64(body)
        return found[0].decode() + "\n", list(_public_parts(label, decoded))
    except (ValueError, IndexError):
        raise SSLError("[SSL] PEM lib") from None


def _public_parts(label, data):
    fields = der.first(data).children
    if label == "PRIVATE KEY":
        is_rsa = der.oid(fields[1].children[0]) == _RSA
        fields = der.first(fields[2].content).children if is_rsa or fields[2].content[:1] == b"0" else []
    elif label == "RSA PRIVATE KEY":
        is_rsa = True
    else:
        is_rsa = False
    if is_rsa:
        # The modulus, as the element of the public key.
        yield fields[1].whole
    for field in fields:
        if not is_rsa and field.tag == 0xA1:
            yield field.children[0].content
