"""The state of a session of TLS, and the records between the guest and the edge process.

A record is u8 kind, u24 length in little-endian order, and the payload (crate `edge`,
tls/records.rs). This class makes and reads records. It moves no bytes, so that the records can
pass a descriptor or the program's own buffers. Next: carriers.
"""

import json

from . import errors

# The kinds of records to the session.
_START = 1
_ENCRYPTED = 2
_PLAIN = 3
_PLAIN_END = 4
_CONTINUE = 5
_ENCRYPTED_END = 6
_ASK = 9
# The kinds of records from the session.
_TO_PEER = 129
_TO_PROGRAM = 130
_ENDED = 131
_EVENT = 132
_WRITTEN = 133
_HANDLED = 134

_HEAD_SIZE = 4
# The most bytes of one record of the program's bytes.
PIECE = 32 << 10
_WRITTEN_BY = (_PLAIN, _PLAIN_END)
_HANDLED_BY = (_START, _ENCRYPTED, _CONTINUE)


class Session:
    """One session. `outgoing` are the records that the session has not received."""

    def __init__(self, on_key_line=None):
        self.outgoing = bytearray()
        # The encrypted bytes for the peer, and the plain bytes for the program.
        self.to_peer = bytearray()
        self.plain = bytearray()
        # The number of records whose results are missing.
        self.unsettled = 0
        # The client's first message, for a server that chooses its settings afterwards.
        self.hello = None
        # The facts of the established session, such as its protocol.
        self.facts = None
        self.ticket = None
        self.error = None
        self.reply = None
        # The peer has ended its bytes as TLS requires.
        self.has_ended = False
        # The connection of the peer has ended.
        self.is_cut = False
        self._on_key_line = on_key_line
        # Whether a server waits for its choices after the client's first message.
        self._pauses = False
        self._incoming = bytearray()

    @property
    def is_settled(self):
        """Whether the results of all records are known."""
        return self.unsettled == 0 or self.error is not None

    @property
    def is_over(self):
        """Whether the session sends no further plain bytes."""
        return self.has_ended or self.is_cut or self.error is not None

    def start(self, settings):
        """Begins the handshake."""
        self._pauses = settings.get("pauses", False)
        self._send_json(_START, settings)

    def go_on(self, choices):
        """Continues the handshake of a server after the client's first message."""
        self.hello = None
        self._send_json(_CONTINUE, choices)

    def ask(self, request):
        """Sends a request. `reply` is the reply."""
        self._send_json(_ASK, request)

    def receive_encrypted(self, data):
        """Passes encrypted bytes of the peer to the session."""
        for at in range(0, len(data), PIECE):
            self._send(_ENCRYPTED, data[at : at + PIECE])

    def end_encrypted(self):
        """Tells an attached session that all bytes before the session have been passed."""
        self._send(_ENCRYPTED_END, b"")

    def write(self, piece):
        """Encrypts at most PIECE plain bytes for the peer."""
        self._send(_PLAIN, piece)

    def end(self):
        """Ends the plain bytes for the peer."""
        self._send(_PLAIN_END, b"")

    def cut(self):
        """Notes that the connection of the peer has ended."""
        self.is_cut = True

    def take_plain(self, count):
        """Removes and returns at most `count` plain bytes."""
        taken = bytes(memoryview(self.plain)[:count])
        del self.plain[: len(taken)]
        return taken

    def feed(self, data):
        """Reads bytes of the session."""
        incoming = self._incoming
        incoming += data
        at = 0
        while len(incoming) - at >= _HEAD_SIZE:
            start = at + _HEAD_SIZE
            end = start + int.from_bytes(incoming[at + 1 : start], "little")
            if end > len(incoming):
                break
            self._handle(incoming[at], incoming[start:end])
            at = end
        del incoming[:at]

    def _send_json(self, kind, value):
        self._send(kind, json.dumps(value).encode())

    def _send(self, kind, payload):
        if kind in _WRITTEN_BY or kind in _HANDLED_BY:
            self.unsettled += 1
        self.outgoing += bytes([kind]) + len(payload).to_bytes(3, "little")
        self.outgoing += payload

    def _handle(self, kind, payload):
        if kind == _TO_PROGRAM:
            self.plain += payload
        elif kind == _TO_PEER:
            self.to_peer += payload
        elif kind == _ENDED:
            self.has_ended = True
        elif kind == _EVENT:
            self._handle_event(json.loads(payload))
        elif kind in (_WRITTEN, _HANDLED):
            self.unsettled -= 1

    def _handle_event(self, event):
        match event["type"]:
            case "hello" if self._pauses:
                self.hello = event
            case "secure":
                self.facts = event
            case "session":
                self.ticket = event["session"]
            case "error":
                self.error = errors.of_event(event)
            case "reply":
                self.reply = event
            case "ended":
                self.is_cut = True
            case "keylog" if self._on_key_line is not None:
                self._on_key_line(event["line"])
