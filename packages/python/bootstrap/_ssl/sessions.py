"""A session that a later connection resumes. Next: socket."""

import time as _time


class SSLSession:
    """The number of a ticket, which the edge process has."""

    __module__ = "_ssl"
    timeout = 7200
    ticket_lifetime_hint = 7200

    def __init__(self, ticket, context):
        self._ticket = ticket
        self._context = context
        self.time = int(_time.time())

    @property
    def has_ticket(self):
        return self._ticket is not None

    @property
    def id(self):
        return b"" if self._ticket is None else self._ticket.to_bytes(32, "big")

    def __eq__(self, other):
        if not isinstance(other, SSLSession):
            return NotImplemented
        return self._ticket == other._ticket

    __hash__ = None
