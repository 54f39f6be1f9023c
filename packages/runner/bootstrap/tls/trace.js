// A trace of a session on stderr, in the form of OpenSSL's SSL_trace (t1_trce.c). The trace has the
// head of each record of TLS, and the names of messages that are not encrypted. Next:
// ../internal-bindings/tls_wrap.js.
'use strict';

const HEAD_SIZE = 5;
const MESSAGE_HEAD_SIZE = 4;
const CHANGE_CIPHER_SPEC = 20;
const HANDSHAKE = 22;
const STDERR = 2;

const VERSIONS = { __proto__: null, 769: 'TLS 1.0', 770: 'TLS 1.1', 771: 'TLS 1.2', 772: 'TLS 1.3' };
const TYPES = { __proto__: null, 20: 'ChangeCipherSpec', 21: 'Alert', 22: 'Handshake', 23: 'ApplicationData' };
const MESSAGES = {
  __proto__: null,
  1: 'ClientHello',
  2: 'ServerHello',
  4: 'NewSessionTicket',
  11: 'Certificate',
  12: 'ServerKeyExchange',
  13: 'CertificateRequest',
  14: 'ServerHelloDone',
  15: 'CertificateVerify',
  16: 'ClientKeyExchange',
  20: 'Finished',
  22: 'CertificateStatus',
};

// One direction of a session.
class Trace {
  #direction;
  #bytes = new Uint8Array(0);
  // The bytes of a record that are left out.
  #skipped = 0;
  #isEncrypted = false;

  // `direction` is 'Sent' or 'Received'.
  constructor(direction) {
    this.#direction = direction;
  }

  // Writes the records that end in these bytes.
  add(view) {
    let rest = view;
    while (rest.length > 0) {
      if (this.#skipped > 0) {
        const count = Math.min(this.#skipped, rest.length);
        this.#skipped -= count;
        rest = rest.subarray(count);
        continue;
      }
      const missing = this.#missing();
      const piece = rest.subarray(0, missing);
      rest = rest.subarray(piece.length);
      this.#append(piece);
      if (piece.length === missing && this.#missing() === 0) this.#record();
    }
  }
  #append(piece) {
    const whole = new Uint8Array(this.#bytes.length + piece.length);
    whole.set(this.#bytes);
    whole.set(piece, this.#bytes.length);
    this.#bytes = whole;
  }
  get #length() {
    return (this.#bytes[3] << 8) | this.#bytes[4];
  }
  get #hasMessages() {
    return this.#bytes[0] === HANDSHAKE && !this.#isEncrypted;
  }
  // Returns the number of bytes to the end of the head, or of a record with messages.
  #missing() {
    if (this.#bytes.length < HEAD_SIZE) return HEAD_SIZE - this.#bytes.length;
    return this.#hasMessages ? HEAD_SIZE + this.#length - this.#bytes.length : 0;
  }
  #record() {
    const [type, major, minor] = this.#bytes;
    const version = (major << 8) | minor;
    const lines = [
      `${this.#direction} TLS Record`,
      'Header:',
      `  Version = ${VERSIONS[version] ?? 'UNKNOWN'} (0x${version.toString(16)})`,
      `  Content Type = ${TYPES[type] ?? 'UNKNOWN'} (${type})`,
      `  Length = ${this.#length}`,
    ];
    if (this.#hasMessages) lines.push(...this.#messages());
    else this.#skipped = this.#length;
    if (type === CHANGE_CIPHER_SPEC) this.#isEncrypted = true;
    this.#bytes = new Uint8Array(0);
    native.write(STDERR, `${lines.join('\n')}\n`);
  }
  // Returns a line for each message that begins in the record.
  #messages() {
    const lines = [];
    const bytes = this.#bytes;
    for (let at = HEAD_SIZE; at + MESSAGE_HEAD_SIZE <= bytes.length; ) {
      const length = (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
      lines.push(`    ${MESSAGES[bytes[at]] ?? 'UNKNOWN'}, Length=${length}`);
      at += MESSAGE_HEAD_SIZE + length;
    }
    return lines;
  }
}

module.exports = { Trace };
