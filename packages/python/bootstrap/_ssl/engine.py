"""The program's view of one session of TLS: a state that records change.

The engine moves no bytes. A carrier (carriers.py) writes `output` to the session, passes the
session's bytes to `take`, and writes `to_peer` to the connection.

    program ─ plain ─► engine ─ output ─► session of the edge process
            ◄─ plain ─        ◄─ take ──
    peer ◄─ to_peer ─         (a session that is attached to its connection uses no `to_peer`)

Next: carriers.
"""

import json

from . import records


class Engine:
    """The state of a session."""

    def __init__(self):
        # Records that the session has not received.
        self.output = bytearray()
        # Encrypted bytes that the peer has not received.
        self.to_peer = bytearray()
        # Plain bytes of the peer that the program has not read.
        self.plain = bytearray()
        # The facts of the established session, and the first message of a server's client.
        self.facts = self.hello = None
        # The event of the failure.
        self.failure = None
        self.reply = None
        # The number of the last ticket for a resumption.
        self.ticket = None
        self.key_lines = []
        # The peer has sent `close_notify`. The connection has ended.
        self.is_closed = self.has_ended = False
        self._decoder = records.Decoder()
        self._unhandled = 0
        self._unwritten = 0
        self._is_ending = False

    @property
    def is_settled(self):
        """Whether the session has handled all records, and all results have arrived."""
        return not (self.output or self._unhandled or self._unwritten or self._is_ending)

    def start(self, settings):
        """Begins the session. `settings` are the fields of tls/settings.rs."""
        self._unhandled += 1
        self.output += records.encode_json(records.START, settings)

    def go_on(self, choices):
        """Continues a server after `hello`."""
        self.hello = None
        self._unhandled += 1
        self.output += records.encode_json(records.CONTINUE, choices)

    def ask(self, request):
        """Sends a request. Its reply is stored in `reply`."""
        self.reply = None
        self.output += records.encode_json(records.ASK, request)

    def receive(self, data):
        """Passes encrypted bytes of the peer to the session."""
        for at in range(0, len(data), records.PIECE):
            self._unhandled += 1
            self.output += records.encode(records.ENCRYPTED, data[at : at + records.PIECE])

    def end_receiving(self):
        """Tells an attached session that all earlier bytes of the peer have been passed."""
        self.output += records.encode(records.ENCRYPTED_END)

    def send(self, data):
        """Passes at most one record of plain bytes to the session. Returns the number of bytes."""
        piece = bytes(data[: records.PIECE])
        self._unwritten += len(piece)
        self.output += records.encode(records.PLAIN, piece)
        return len(piece)

    def end_sending(self):
        """Sends `close_notify`."""
        self._is_ending = True
        self.output += records.encode(records.PLAIN_END)

    def take(self, data):
        """Handles bytes of the session."""
        for kind, payload in self._decoder.add(data):
            if kind == records.TO_PROGRAM:
                self.plain += payload
            elif kind == records.TO_PEER:
                self.to_peer += payload
            elif kind == records.ENDED:
                self.is_closed = True
            elif kind == records.HANDLED:
                self._unhandled -= 1
            elif kind == records.WRITTEN:
                self._written(int.from_bytes(payload, "little"))
            elif kind == records.EVENT:
                self._event(json.loads(payload))

    def fail(self, event):
        """Ends the session. The first failure counts."""
        self.failure = self.failure or event
        self.output.clear()
        self._unhandled = self._unwritten = 0
        self._is_ending = False

    def _written(self, count):
        # The reply to `close_notify` counts no bytes.
        if count == 0:
            self._is_ending = False
        self._unwritten -= count

    def _event(self, event):
        kind = event["type"]
        if kind == "secure":
            self.facts = event
        elif kind == "hello":
            self.hello = event
        elif kind == "session":
            self.ticket = event["session"]
        elif kind == "reply":
            self.reply = event
        elif kind == "keylog":
            self.key_lines.append(event["line"])
        elif kind == "ended":
            self.has_ended = True
        elif kind == "error":
            # A failed session handles no plain bytes, and sends no count of written bytes.
            self.failure = self.failure or event
            self._unwritten = 0
            self._is_ending = False
