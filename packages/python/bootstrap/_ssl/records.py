"""The records of a session of TLS: u8 kind, u24 LE length, payload.

A session is in the edge process, which has the keys. The program and the session exchange records
over a socket of the kernel (crate `edge`, tls/records.rs). This module encodes and decodes the
records. `runner/bootstrap/tls/session.js` is the same module for Node. Next: engine.
"""

import json

# The kinds of records to the session.
START = 1
ENCRYPTED = 2
PLAIN = 3
PLAIN_END = 4
CONTINUE = 5
ENCRYPTED_END = 6
ASK = 9
# The kinds of records from the session.
TO_PEER = 129
TO_PROGRAM = 130
ENDED = 131
EVENT = 132
WRITTEN = 133
HANDLED = 134

HEAD_SIZE = 4
# The most bytes of a payload with bytes.
PIECE = 64 << 10


def encode(kind, payload=b""):
    """Returns a record."""
    return bytes((kind,)) + len(payload).to_bytes(3, "little") + payload


def encode_json(kind, value):
    """Returns a record whose payload is JSON."""
    return encode(kind, json.dumps(value).encode())


class Decoder:
    """Cuts the bytes of a session into records."""

    def __init__(self):
        self._bytes = bytearray()

    def add(self, data):
        """Yields the records that are whole after `data`, as kind and payload."""
        self._bytes += data
        at = 0
        try:
            while len(self._bytes) - at >= HEAD_SIZE:
                start = at + HEAD_SIZE
                end = start + int.from_bytes(self._bytes[at + 1 : start], "little")
                if end > len(self._bytes):
                    break
                kind, payload = self._bytes[at], bytes(self._bytes[start:end])
                at = end
                yield kind, payload
        finally:
            del self._bytes[:at]
