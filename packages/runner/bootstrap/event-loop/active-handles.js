// The open handles of this process, for `process._getActiveHandles` and
// `process.getActiveResourcesInfo`. Like Node, the set keeps handles until they are closed. Next:
// async-wrap.js, which adds handles; ../internal-bindings/process_methods.js, which reports them.
'use strict';

const context = require('../context.js');

const open = new Set();

const add = (handle) => open.add(handle);
const remove = (handle) => open.delete(handle);

// Returns the handles that keep the event loop alive.
const list = () => [...open].filter((handle) => handle.hasRef());

// Returns the program's object of each handle: a `net.Server`, a `net.Socket`.
const owners = () => list().map((handle) => handle[context.symbols.owner_symbol] ?? handle);

// Node's names of its C++ classes, where our class has another name.
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
