// What: the handles of this process that are not closed, for `process._getActiveHandles` and `process.getActiveResourcesInfo`.
// Node too keeps a handle until it is closed.
// Next: async-wrap.js, which enters them; bindings/process_methods.js, which tells of them.
'use strict';

const context = require('../context.js');

const open = new Set();

const add = (handle) => open.add(handle);
const remove = (handle) => open.delete(handle);

// Those that hold the loop.
const list = () => [...open].filter((handle) => handle.hasRef());

// What a program knows the handle by: its `net.Server`, its `net.Socket`.
const owners = () => list().map((handle) => handle[context.symbols.owner_symbol] ?? handle);

// Node's names of its C++ classes, where that of ours is another.
const NAMES = { __proto__: null, TCPWRAP: 'TCPSocketWrap', TCPSERVERWRAP: 'TCPServerWrap' };
const CLASSES = {
  __proto__: null,
  Pipe: 'PipeWrap',
  UDP: 'UDPWrap',
  Signal: 'SignalWrap',
  FSEvent: 'FSEventWrap',
  TTY: 'TTYWrap',
  Process: 'ProcessWrap',
};

function names() {
  return list().map((handle) => NAMES[handle.providerName] ?? CLASSES[handle.constructor.name] ?? handle.constructor.name);
}

module.exports = { add, remove, owners, names };
