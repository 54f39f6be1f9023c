// The open handles of this process, for `process._getActiveHandles` and
// `process.getActiveResourcesInfo`. Like Node, the set keeps handles until they are closed. Next:
// async-wrap.js, which adds handles; ../internal-bindings/process_methods.js, which reports them.
'use strict';

const context = require('../context.js');

const open = new Set();

const add = (handle) => open.add(handle);
const remove = (handle) => open.delete(handle);

// Returns the open handles that `unref` has not released from the event loop.
const list = () => [...open].filter((handle) => handle.hasRef());

// Returns the program's object of each such handle, such as a `net.Server`. A handle without such
// an object is returned itself.
const owners = () => list().map((handle) => handle[context.symbols.owner_symbol] ?? handle);

// Node's names of handles, by provider. CLASSES has the names by our class. A handle in neither
// table has the name of our class.
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
