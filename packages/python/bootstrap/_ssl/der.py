"""Reads DER, the encoding of certificates. A wrong encoding raises DerError. Next: names."""

INTEGER = 0x02
BIT_STRING = 0x03
OCTET_STRING = 0x04
OBJECT_IDENTIFIER = 0x06
SEQUENCE = 0x30

_UTF8 = 0x0C
_UTC_TIME = 0x17
_UNIVERSAL_STRING = 0x1C
_BMP_STRING = 0x1E
_ENCODINGS = {_UTF8: "utf-8", _BMP_STRING: "utf-16-be", _UNIVERSAL_STRING: "utf-32-be"}
# In this century, and in the last century, for the two digits of a UTC time.
_FIRST_YEARS = ("20", "19")
_TURN = 50


class DerError(ValueError):
    """The bytes are not DER."""


class Element:
    """An element of DER: its tag, its content, and all its bytes."""

    __slots__ = ("tag", "content", "whole")

    def __init__(self, tag, content, whole):
        self.tag, self.content, self.whole = tag, content, whole

    def children(self):
        """Returns the elements inside this element."""
        found, rest = [], self.content
        while rest:
            element, rest = _split(rest)
            found.append(element)
        return found

    def text(self):
        """Returns the text of a string of any type."""
        return self.content.decode(_ENCODINGS.get(self.tag, "latin-1"), "replace")

    def oid(self):
        """Returns an object identifier in dotted form."""
        parts, value = [], 0
        for octet in self.content:
            value = value << 7 | octet & 0x7F
            if octet & 0x80:
                continue
            if not parts:
                first = min(2, value // 40)
                parts, value = [first], value - 40 * first
            parts.append(value)
            value = 0
        return ".".join(map(str, parts))

    def time(self):
        """Returns year, month, day, hour, minute and second."""
        digits = self.content.decode("latin-1")
        if self.tag == _UTC_TIME:
            digits = _FIRST_YEARS[int(digits[:2]) >= _TURN] + digits
        rest = [int(digits[at : at + 2] or "0") for at in range(4, 14, 2)]
        return int(digits[:4]), *rest


def read(data):
    """Returns the first element of bytes."""
    return _split(data)[0]


def read_all(data):
    """Returns the elements of bytes."""
    return Element(None, data, data).children()


def _split(data):
    if len(data) < 2:
        raise DerError("not enough data")
    length, start = data[1], 2
    if length >= 0x80:
        start = 2 + (length & 0x7F)
        if start == 2 or start > 6 or start > len(data):
            raise DerError("not enough data")
        length = int.from_bytes(data[2:start], "big")
    end = start + length
    if end > len(data):
        raise DerError("not enough data")
    return Element(data[0], data[start:end], data[:end]), data[end:]
