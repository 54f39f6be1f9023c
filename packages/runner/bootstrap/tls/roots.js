// The authorities that a process trusts (crypto_context.cc). These are the operator's authorities,
// which take the place of Node's list, and the certificates of NODE_EXTRA_CA_CERTS. A program may
// set another list. Next: secure-context.js.
'use strict';

const context = require('../context.js');
const { bytesOf } = require('../crypto/bytes.js');
const { coded, opensslError } = require('../crypto/faults.js');
const { Certificate, blocksOf, toPem } = require('./certificate.js');
const { Session } = require('./session.js');

const { hex, latin1 } = native.encodings;
const NOTHING = () => {};
// The owner of a session that has no handshake.
const owner = {
  toPeer: NOTHING,
  toProgram: NOTHING,
  ended: NOTHING,
  event: NOTHING,
  written: NOTHING,
  failed: NOTHING,
  drained: NOTHING,
};

// Whether the image is being made, in which no process may read the authorities.
let isInImage = true;
let operators;
let extras;
let chosenByProgram;

const pemOf = (bytes) => toPem(bytes).trimEnd();

// Returns the operator's authorities in PEM. A runtime without the option `network` has none. In
// the image the result is undefined, because Node's library keeps each other result.
function listed() {
  if (isInImage) return undefined;
  if (operators !== undefined) return [...operators];
  const session = Session.open(owner);
  if (typeof session === 'number') return [];
  const reply = session.ask({ type: 'roots' });
  session.close();
  if (reply === undefined) return [];
  const texts = reply.roots.map((text) => pemOf(new Uint8Array(native.encode(text, hex))));
  operators = [...new Set(texts)];
  return [...operators];
}

// Returns the certificates of NODE_EXTRA_CA_CERTS in PEM.
function extra() {
  if (extras !== undefined) return extras;
  extras = [];
  const path = context.process.env.NODE_EXTRA_CA_CERTS;
  if (!path) return extras;
  let fault;
  try {
    const text = context.requireBuiltin('fs').readFileSync(path, 'latin1');
    extras = blocksOf(text).map((bytes) => `${pemOf(bytes)}\n`);
    if (extras.length === 0) fault = 'error:0480006C:PEM routines::no start line';
  } catch (error) {
    const isAbsent = error.code === 'ENOENT';
    fault = isAbsent ? 'error:80000002:system library::No such file or directory' : error.message;
  }
  if (fault !== undefined) context.process.emitWarning(`Ignoring extra certs from \`${path}\`, load failed: ${fault}`);
  return extras;
}

// Returns the list that the program has set, or undefined.
const chosen = () => chosenByProgram;

// Returns all authorities that the process trusts.
const trusted = () => chosenByProgram ?? [...listed(), ...extra()];

function textOf(value) {
  if (typeof value === 'string') return value;
  const bytes = bytesOf(value);
  return native.decode(bytes, 0, bytes.length, latin1);
}

// Sets the list of the process. Throws, and keeps the earlier list, if a certificate is wrong.
function choose(values) {
  const found = new Set();
  for (const value of values) {
    const text = textOf(value);
    const blocks = blocksOf(text);
    for (const block of blocks) {
      try {
        Certificate.parse(block);
      } catch {
        throw opensslError('0488000D', 'PEM routines', 'ASN1 lib', true);
      }
      found.add(`${pemOf(block)}\n`);
    }
  }
  if (values.length > 0 && found.size === 0) {
    throw coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'No valid certificates found in the provided array');
  }
  chosenByProgram = [...found];
}

function leaveImage() {
  isInImage = false;
}

module.exports = { leaveImage, listed, extra, chosen, trusted, choose };
