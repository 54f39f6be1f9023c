// Queries to DNS servers on the runtime's own loopback, as c-ares makes queries. A query is a
// datagram with a timeout and further tries. After a truncated response, TCP follows. No byte
// leaves the runtime, and the kernel checks the permission of each socket. Servers outside the
// runtime are never queried here. Next: dns-message.js, ../internal-bindings/cares_wrap.js.
'use strict';

const context = require('../context.js');
const { EACCES, reasonOf } = require('../errors/denials.js');
const { DATAGRAM, ERRNO, IN, INET, INET6, NUMBERS, OUT, STREAM, Waiting, sys } = require('./calls.js');
const { queryOf, responseOf, select } = require('./dns-message.js');

// The defaults of c-ares.
const TIMEOUT_MS = 2000;
const TRIES = 3;
const MAX_MESSAGE = 65_535;
const PREFIX = 2;
// The codes of c-ares for the response codes of a server.
const CODES = { __proto__: null, 1: 'EFORMERR', 2: 'ESERVFAIL', 3: 'ENOTFOUND', 4: 'ENOTIMP', 5: 'EREFUSED' };

// One socket to a server. Calls `received(bytes)` for each message, and `failed(code)` at most
// once. Subclasses have `start` and `onReady`.
class Exchange {
  #socket;
  #failed;
  constructor(socket, received, failed) {
    this.#socket = socket;
    this.received = received;
    this.#failed = failed;
    this.input = new Waiting(IN, () => this.onInput());
  }
  get socket() {
    return this.#socket;
  }
  fail(status) {
    if (this.#socket < 0) return;
    this.close();
    this.#failed(status === ERRNO.ECONNREFUSED ? 'ECONNREFUSED' : 'ETIMEOUT');
  }
  close() {
    this.input.stop();
    if (this.#socket >= 0) sys(NUMBERS.close, this.#socket, 0);
    this.#socket = -1;
  }
}

class DatagramExchange extends Exchange {
  #message = new Uint8Array(MAX_MESSAGE);
  start(query) {
    const sent = sys(NUMBERS.send, this.socket, query, '', 0);
    const status = sent < 0 ? sent : this.input.start(this.socket);
    if (status < 0) native.enqueueTask(() => this.fail(status));
  }
  onInput() {
    const count = sys(NUMBERS.receive, this.socket, this.#message, new Uint8Array(0));
    if (count < 0 && count !== ERRNO.EAGAIN) {
      this.fail(count);
      return;
    }
    this.input.start(this.socket);
    if (count > 0) this.received(this.#message.slice(0, count));
  }
}

class StreamExchange extends Exchange {
  #waiting;
  #received = new Uint8Array(0);
  #output = new Waiting(OUT, () => this.#write());
  start(query) {
    this.#waiting = Uint8Array.from([query.length >> 8, query.length & 255, ...query]);
    this.#output.start(this.socket);
  }
  close() {
    this.#output.stop();
    super.close();
  }
  #write() {
    const error = sys(NUMBERS.error, this.socket);
    const taken = error < 0 ? error : sys(NUMBERS.write, this.socket, this.#waiting);
    if (taken < 0 && taken !== ERRNO.EAGAIN) {
      this.fail(taken);
      return;
    }
    if (taken > 0) this.#waiting = this.#waiting.subarray(taken);
    if (this.#waiting.length > 0) this.#output.start(this.socket);
    else this.input.start(this.socket);
  }
  onInput() {
    const chunk = new Uint8Array(MAX_MESSAGE);
    const count = sys(NUMBERS.read, this.socket, chunk);
    if (count === 0 || (count < 0 && count !== ERRNO.EAGAIN)) {
      this.fail(count);
      return;
    }
    this.input.start(this.socket);
    if (count < 0) return;
    const all = new Uint8Array(this.#received.length + count);
    all.set(this.#received);
    all.set(chunk.subarray(0, count), this.#received.length);
    this.#received = all;
    const size = all.length < PREFIX ? MAX_MESSAGE : (all[0] << 8) | all[1];
    if (all.length >= PREFIX + size) this.received(all.slice(PREFIX, PREFIX + size));
  }
}

// A query in progress. `done(code, records, reason)` is called once, unless the query is cancelled.
// `code` is `EACCES` with the kernel's reason if the permission is denied.
class LoopbackQuery {
  #servers;
  #options;
  #done;
  #query;
  #type;
  #attempt = -1;
  #exchange;
  #timer;

  // `servers` has pairs of an address in the kernel's form and a port. `options` has the resolver's
  // `timeout`, `tries`, `maxTimeout` and `sources`, the own addresses by family.
  constructor(servers, options, done) {
    this.#servers = servers;
    this.#options = options;
    this.#done = done;
  }
  // Sends the query. Returns false if the name is invalid.
  start(name, type) {
    const id = new Uint16Array(1);
    native.random(new Uint8Array(id.buffer));
    this.#query = queryOf(id[0], name, type);
    if (this.#query === undefined) return false;
    this.#type = type;
    native.loop.keepAlive[0]++;
    this.#try('ETIMEOUT');
    return true;
  }
  cancel() {
    this.#release();
    this.#done = undefined;
    native.loop.keepAlive[0]--;
  }

  // Queries the next server. `code` is the result if all tries are used.
  #try(code) {
    this.#release();
    const { timeout, tries, maxTimeout } = this.#options;
    const { length } = this.#servers;
    if (++this.#attempt >= (tries > 0 ? tries : TRIES) * length) {
      this.#finish(code);
      return;
    }
    // Each round through the servers doubles the timeout.
    const doubled = (timeout > 0 ? timeout : TIMEOUT_MS) * 2 ** Math.floor(this.#attempt / length);
    const { setUnrefTimeout } = context.requireBuiltin('internal/timers');
    this.#timer = setUnrefTimeout(() => this.#try('ETIMEOUT'), maxTimeout > 0 ? Math.min(doubled, maxTimeout) : doubled);
    this.#open(DATAGRAM);
  }
  #open(kind) {
    this.#exchange?.close();
    this.#exchange = undefined;
    const [address, port] = this.#servers[this.#attempt % this.#servers.length];
    const domain = address.includes(':') ? INET6 : INET;
    const source = this.#options.sources[domain];
    const socket = sys(NUMBERS.socket, domain, kind);
    let status = Math.min(socket, 0);
    if (status === 0 && source !== undefined) status = sys(NUMBERS.bind, socket, source, 0, 0);
    if (status === 0) status = sys(NUMBERS.connect, socket, address, port);
    if (status < 0 && status !== ERRNO.EINPROGRESS) {
      const reason = reasonOf(status);
      if (socket >= 0) sys(NUMBERS.close, socket, 0);
      native.enqueueTask(() => {
        if (this.#done === undefined) return;
        if (status === EACCES) this.#finish(EACCES, undefined, reason);
        else this.#try('ECONNREFUSED');
      });
      return;
    }
    const Kind = kind === STREAM ? StreamExchange : DatagramExchange;
    const failed = (code) => this.#try(code);
    this.#exchange = new Kind(socket, (bytes) => this.#onMessage(bytes, kind), failed);
    this.#exchange.start(this.#query);
  }
  // Messages that are no response to the query are ignored: a real response may follow.
  #onMessage(bytes, kind) {
    const response = responseOf(bytes, this.#query);
    if (response === undefined) return;
    if (response.isTruncated && kind === DATAGRAM) {
      this.#open(STREAM);
      return;
    }
    const records = response.code === 0 ? select(response.records, this.#type) : [];
    if (response.code !== 0) this.#finish(CODES[response.code] ?? 'ESERVFAIL');
    else if (records.length === 0) this.#finish('ENODATA');
    else this.#finish(undefined, records);
  }
  #release() {
    if (this.#timer !== undefined) context.requireBuiltin('timers').clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#exchange?.close();
    this.#exchange = undefined;
  }
  #finish(code, records, reason) {
    const done = this.#done;
    this.cancel();
    done(code, records, reason);
  }
}

module.exports = { LoopbackQuery };
