"""SSLSession: the ticket of a session, with which a later session is resumed.

The edge process keeps the tickets, and the guest has their numbers. Next: certificates.
"""

import time


class SSLSession:
    """A session that a client can resume."""

    def __init__(self, context, ticket):
        self._context, self._ticket = context, ticket
        self._time = int(time.time())

    id = property(lambda self: b"" if self._ticket is None else self._ticket.to_bytes(32, "big"))
    has_ticket = property(lambda self: self._ticket is not None)
    time = property(lambda self: self._time)
    timeout = property(lambda self: 7200)
    ticket_lifetime_hint = property(lambda self: 7200 if self.has_ticket else 0)

    def __eq__(self, other):
        return self.id == other.id if isinstance(other, SSLSession) else NotImplemented

    __hash__ = None


SSLSession.__module__ = "_ssl"
