// The names of protocols in the form of TLS (ALPN): each name follows its length. Next: session.js.
'use strict';

const { latin1 } = native.encodings;

// Returns the names in the bytes of TLS.
function namesOf(wire) {
  const names = [];
  for (let at = 0; at < wire.length; at += 1 + wire[at]) {
    names.push(native.decode(wire, at + 1, Math.min(at + 1 + wire[at], wire.length), latin1));
  }
  return names;
}

// Returns the bytes of TLS for names.
function wireOf(names) {
  return Buffer.concat(names.map((name) => Buffer.from([name.length, ...Buffer.from(name, 'latin1')])));
}

// Returns the name at an offset of the bytes of TLS. Returns undefined if no name begins there.
function nameAt(names, offset) {
  let at = 0;
  return names.find((name) => {
    const isFound = at === offset;
    at += 1 + name.length;
    return isFound;
  });
}

module.exports = { nameAt, namesOf, wireOf };
