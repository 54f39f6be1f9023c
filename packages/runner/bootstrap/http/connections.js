// The connections of an HTTP server, each represented by its parser (node_http_parser.cc,
// `ConnectionsList`). A connection is idle, active, or expired because a message has taken too
// long.
'use strict';

const NS_PER_MS = 1e6;

class ConnectionsList {
  #all = new Set();
  #active = new Set();

  all() {
    return [...this.#all];
  }
  idle() {
    return [...this.#all].filter((parser) => parser.began === 0);
  }
  active() {
    return [...this.#active];
  }
  // Returns the connections whose headers, or whose whole request, are late. Each connection is
  // returned only once. The timeouts are in milliseconds; 0 means no timeout.
  expired(headersTimeout, requestTimeout) {
    const now = native.clockNs(1);
    const headersSince = headersTimeout > 0 ? now - headersTimeout * NS_PER_MS : 0;
    const requestSince = requestTimeout > 0 ? now - requestTimeout * NS_PER_MS : 0;
    const late = [...this.#active].filter(
      (parser) => (!parser.headersCompleted && parser.began < headersSince) || parser.began < requestSince,
    );
    for (const parser of late) this.#active.delete(parser);
    return late;
  }

  add(parser) {
    this.#all.add(parser);
  }
  activate(parser) {
    this.#active.add(parser);
  }
  deactivate(parser) {
    this.#active.delete(parser);
  }
  remove(parser) {
    this.#all.delete(parser);
    this.#active.delete(parser);
  }
}

module.exports = { ConnectionsList };
