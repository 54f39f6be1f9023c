"""Certificates: the dictionaries of `getpeercert`, and PEM. Only the edge process verifies
certificates. Next: der, names.
"""

import binascii
import re

from . import der, names
from .constants import ENCODING_DER, ENCODING_PEM
from .errors import SSLError, pem_error

_ALTERNATIVE_NAMES = "2.5.29.17"
_BASIC_CONSTRAINTS = "2.5.29.19"
_DISTRIBUTION_POINTS = "2.5.29.31"
_INFORMATION_ACCESS = "1.3.6.1.5.5.7.1.1"
_OCSP = "1.3.6.1.5.5.7.48.1"
_ISSUERS = "1.3.6.1.5.5.7.48.2"

_VERSION = 0xA0
_EXTENSIONS = 0xA3
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_LABELS = "(?:X509 |TRUSTED )?CERTIFICATE"


def blocks_of(text, labels=_LABELS):
    """Returns the blocks of PEM with a label, as DER."""
    pattern = f"-----BEGIN {labels}-----([^-]*)-----END"
    try:
        return [binascii.a2b_base64(body) for body in re.findall(pattern, text)]
    except binascii.Error:
        raise pem_error() from None


def to_pem(data, label="CERTIFICATE"):
    """Returns bytes in PEM."""
    body = binascii.b2a_base64(data, newline=False).decode()
    lines = "".join(body[at : at + 64] + "\n" for at in range(0, len(body), 64))
    return f"-----BEGIN {label}-----\n{lines}-----END {label}-----\n"


class Certificate:
    """A certificate."""

    def __init__(self, data):
        outer = der.read(data)
        # A trusted certificate of OpenSSL has further data behind the certificate.
        self.der = outer.whole
        try:
            self._read(outer)
        except (IndexError, ValueError) as error:
            raise der.DerError("wrong tag") from error

    def _read(self, outer):
        fields = outer.children()[0].children()
        self._version = 1
        if fields[0].tag == _VERSION:
            self._version = fields.pop(0).children()[0].content[0] + 1
        serial, _, self._issuer, validity, self._subject, public_key, *rest = fields
        self._serial = int.from_bytes(serial.content, "big", signed=True)
        self.public_key = public_key.whole
        self._validity = [element.time() for element in validity.children()]
        self._extensions = {}
        for element in rest:
            if element.tag == _EXTENSIONS:
                for extension in element.children()[0].children():
                    parts = extension.children()
                    self._extensions[parts[0].oid()] = der.read(parts[-1].content)

    def public_bytes(self, format=ENCODING_PEM):
        """Returns the certificate as PEM or DER."""
        if format == ENCODING_PEM:
            return to_pem(self.der)
        if format == ENCODING_DER:
            return self.der
        raise ValueError("Unsupported format")

    def get_info(self):
        """Returns the dictionary of `getpeercert`."""
        serial = f"{abs(self._serial):X}"
        if len(serial) % 2:
            serial = "0" + serial
        first, last = self._validity
        info = {
            "subject": names.attributes(self._subject),
            "issuer": names.attributes(self._issuer),
            "version": self._version,
            "serialNumber": "-" + serial if self._serial < 0 else serial,
            "notBefore": _time_text(first),
            "notAfter": _time_text(last),
            "subjectAltName": tuple(map(names.alternative, self.alternatives())),
            "OCSP": self._access(_OCSP),
            "caIssuers": self._access(_ISSUERS),
            "crlDistributionPoints": self._distribution_points(),
        }
        optional = ("subjectAltName", "OCSP", "caIssuers", "crlDistributionPoints")
        return {key: value for key, value in info.items() if value or key not in optional}

    def alternatives(self):
        """Returns the alternative names as elements of DER."""
        extension = self._extensions.get(_ALTERNATIVE_NAMES)
        return [] if extension is None else extension.children()

    def common_names(self):
        """Returns the common names of the subject."""
        return names.common_names(self._subject)

    @property
    def is_authority(self):
        """Whether the certificate is of an authority. Version 1 has no mark."""
        constraints = self._extensions.get(_BASIC_CONSTRAINTS)
        if constraints is None:
            return self._version < 3 and self.is_self_issued
        return any(element.tag == 0x01 and element.content != b"\0" for element in constraints.children())

    @property
    def is_self_issued(self):
        """Whether issuer and subject are equal."""
        return self._issuer.whole == self._subject.whole

    def names_issuer(self, other):
        """Returns whether another certificate is the issuer by its name."""
        return self._issuer.whole == other._subject.whole

    def _access(self, method):
        extension = self._extensions.get(_INFORMATION_ACCESS)
        descriptions = [] if extension is None else [one.children() for one in extension.children()]
        return tuple(names.uris(place for kind, place in descriptions if kind.oid() == method))

    def _distribution_points(self):
        extension = self._extensions.get(_DISTRIBUTION_POINTS)
        found = []
        for point in [] if extension is None else extension.children():
            for field in point.children():
                if field.tag == 0xA0 and field.children()[0].tag == 0xA0:
                    found += names.uris(field.children()[0].children())
        return tuple(found)

    def __eq__(self, other):
        return self.der == other.der if isinstance(other, Certificate) else NotImplemented

    def __hash__(self):
        return hash(self.der)

    def __repr__(self):
        pairs = ", ".join(f"{key}={value}" for part in names.attributes(self._subject) for key, value in part)
        return f"<_ssl.Certificate '{pairs}'>"


Certificate.__module__ = "_ssl"


def _time_text(time):
    year, month, day, hour, minute, second = time
    return f"{_MONTHS[month - 1]} {day:2} {hour:02}:{minute:02}:{second:02} {year} GMT"


def decode_file(path, /):
    """Returns the dictionary of a file in PEM."""
    with open(path, encoding="latin-1") as file:
        blocks = blocks_of(file.read())
    if not blocks:
        raise SSLError("Error decoding PEM-encoded file")
    return Certificate(blocks[0]).get_info()
