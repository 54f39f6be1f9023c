// The bytes of a session that a program receives. The bytes for a later resumption contain only the
// number of a ticket, which is in the edge process. Exported material is made from the keys. Next:
// session.js.
'use strict';

const { bytesOf } = require('../crypto/bytes.js');
const { sessionError } = require('./errors.js');

const { latin1 } = native.encodings;
const MAGIC = 'cfs1';

// Returns the bytes of a session. A session without a ticket has the number 0.
const sessionOf = (ticket) => Buffer.from(`${MAGIC}${ticket ?? 0}`);

// Returns the number of the ticket in the bytes of a session. Returns undefined for other bytes.
function ticketOf(bytes) {
  const text = Buffer.from(bytes.buffer ?? bytes, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.startsWith(MAGIC) ? Number(text.slice(MAGIC.length)) || undefined : undefined;
}

// Asks a session for material from its keys.
function exportedMaterial(session, length, label, context) {
  const textOf = (bytes) => native.decode(bytesOf(bytes), 0, bytes.byteLength, latin1);
  const labelText = Buffer.from(label).toString('latin1');
  const request = { type: 'export', length, label: labelText, context: context === undefined ? null : textOf(context) };
  const material = session?.ask(request)?.material;
  if (material === undefined || material === null) throw sessionError('internal error');
  return Buffer.from(material, 'hex');
}

module.exports = { exportedMaterial, sessionOf, ticketOf };
