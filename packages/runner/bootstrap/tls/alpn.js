// The protocols that a client offers (ALPN), in the form in which Node's library asks the program
// for a choice. Next: ../internal-bindings/tls_wrap.js.
'use strict';

// Returns the offered names in wire format: each name follows its length.
const wireOf = (offered) => Buffer.concat(offered.map((name) => Buffer.from([name.length, ...Buffer.from(name, 'latin1')])));

// Returns the name at an offset of the wire format. Without such a name, returns a name that no
// client offers, so that the session fails as in Node.
function chosenAt(offered, offset) {
  let at = 0;
  for (const name of offered) {
    if (at === offset) return name;
    at += 1 + name.length;
  }
  return '\0';
}

module.exports = { chosenAt, wireOf };
