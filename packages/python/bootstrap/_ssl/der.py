"""Reads DER, the encoding of certificates. A wrong encoding raises ValueError.

Next: certificates.
"""

from typing import NamedTuple


class Element(NamedTuple):
    """An element: its tag, its content, and its whole encoding."""

    tag: int
    content: bytes
    whole: bytes

    @property
    def children(self):
        return list(elements(self.content))


def elements(data):
    """Yields the elements of a sequence of encodings."""
    at = 0
    while at < len(data):
        element = first(data[at:])
        at += len(element.whole)
        yield element


def first(data):
    """Returns the first element of `data`."""
    if len(data) < 2:
        raise ValueError("a truncated element")
    length, start = data[1], 2
    if length >= 0x80:
        start += length & 0x7F
        if start == 2 or start > 6:
            raise ValueError("a wrong length")
        length = int.from_bytes(data[2:start], "big")
    if start + length > len(data):
        raise ValueError("a truncated element")
    return Element(data[0], bytes(data[start : start + length]), bytes(data[: start + length]))


def oid(element):
    """Returns an object identifier with dots."""
    values = []
    value = 0
    for byte in element.content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            values.append(value)
            value = 0
    if not values:
        raise ValueError("an empty object identifier")
    head = min(2, values[0] // 40)
    return ".".join(map(str, [head, values[0] - 40 * head, *values[1:]]))


def text(element):
    """Returns the text of a string of any type."""
    encodings = {0x0C: "utf-8", 0x1E: "utf-16-be", 0x1C: "utf-32-be"}
    return element.content.decode(encodings.get(element.tag, "latin-1"), "replace")
