// The bytes of a session that a program keeps. They contain only the number of a ticket, which is
// in the edge process. Next: session.js.
'use strict';

const MAGIC = 'cfs1';

// Returns the bytes of a session. A session without a ticket has the number 0.
const sessionOf = (ticket) => Buffer.from(`${MAGIC}${ticket ?? 0}`);

// Returns the number of the ticket in the bytes of a session. Returns undefined for other bytes.
function ticketOf(bytes) {
  const text = Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.startsWith(MAGIC) ? Number(text.slice(MAGIC.length)) || undefined : undefined;
}

module.exports = { sessionOf, ticketOf };
