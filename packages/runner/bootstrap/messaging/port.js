// MessagePort, MessageChannel and the ports behind BroadcastChannel. Messages are cloned when they
// are posted, and a task of the loop delivers each message. The state is separate from the object:
// a transferred port becomes another object that keeps queue and peers. Ports keep the event loop
// alive only while they are referenced: Node's EventTarget half calls `ref` for the first listener
// and `unref` after the last. Next: arguments.js (the arguments of `postMessage`), clone.js,
// ../internal-bindings/messaging.js.
'use strict';

const context = require('../context.js');
const { transferListOf, typeError } = require('./arguments.js');
const { clone } = require('./clone.js');

// Port → its state. Ports that were closed or transferred keep a detached state.
const ports = new WeakMap();

const stateOf = (port) => {
  const state = ports.get(port);
  if (state === undefined) throw new TypeError('Illegal invocation');
  return state;
};

// Methods of C++ classes are enumerable. Inherited methods are on a prototype of their own: Node's
// worker/io.js replaces that prototype with the prototype of NodeEventTarget.
class PortHandle {
  close() {
    close(stateOf(this));
  }
  hasRef() {
    const state = stateOf(this);
    return state.detached ? undefined : state.ref;
  }
  ref() {
    setRef(stateOf(this), true);
  }
  unref() {
    setRef(stateOf(this), false);
  }
}

class MessagePort extends PortHandle {
  constructor() {
    throw typeError('ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called');
  }
  postMessage(...args) {
    const state = stateOf(this);
    if (args.length === 0) throw typeError('ERR_MISSING_ARGS', 'Not enough arguments to MessagePort.postMessage');
    const message = clone(args[0], transferListOf(args[1]), this);
    if (state.detached) return undefined;
    let receivers = 0;
    for (const peer of state.group) {
      if (peer === state) continue;
      // Each listener of a broadcast receives a separate copy.
      peer.queue.push(receivers++ === 0 ? message : clone(message.copy, []));
      if (peer.started) deliverLater(peer);
    }
    return true;
  }
  start() {
    const state = stateOf(this);
    if (state.detached || state.started) return;
    state.started = true;
    for (let count = state.queue.length; count > 0; count--) deliverLater(state);
  }
}

for (const [Class, names] of [
  [PortHandle, ['close', 'hasRef', 'ref', 'unref']],
  [MessagePort, ['postMessage', 'start']],
]) {
  for (const name of names) Object.defineProperty(Class.prototype, name, { enumerable: true });
}

function setRef(state, ref) {
  if (state.ref === ref || (ref && state.detached)) return;
  state.ref = ref;
  native.loop.keepAlive[0] += ref ? 1 : -1;
}

// Closes the two ends of a channel, or removes one member of a broadcast.
function close(state) {
  if (state.detached) return;
  state.group.delete(state);
  const { group, broadcast } = state;
  detach(state);
  if (!broadcast) for (const peer of group) native.enqueueTask(() => close(peer));
}

function detach(state) {
  const { port } = state;
  setRef(state, false);
  state.detached = true;
  native.enqueueTask(() => port[context.symbols.handle_onclose]?.());
}

// Moves the port's queue and peers to a new port, detaches the old port, and returns the new port.
function move(port) {
  const state = stateOf(port);
  const moved = makePort(state.group, state.broadcast);
  const movedState = stateOf(moved);
  movedState.queue = state.queue;
  state.queue = [];
  state.started = false;
  state.group.delete(state);
  detach(state);
  moved[context.symbols.oninit]?.();
  return moved;
}

function deliverLater(state) {
  native.enqueueTask(() => {
    if (state.started && state.queue.length > 0) deliver(state.port, state.queue.shift());
  });
}

function deliver(port, { copy, ports: moved }) {
  context.perContextExports.emitMessage.call(port, copy, moved, 'message');
}

function drain(port) {
  const state = stateOf(port);
  while (state.queue.length > 0) deliver(port, state.queue.shift());
}

function receive(port) {
  const state = isMessagePort(port) ? stateOf(port) : undefined;
  if (state === undefined) throw typeError('ERR_INVALID_ARG_TYPE', 'The "port" argument must be a MessagePort instance');
  return state.queue.length > 0 ? state.queue.shift().copy : context.symbols.no_message_symbol;
}

function stop(port) {
  stateOf(port).started = false;
}

const isMessagePort = (value) => typeof value === 'object' && value !== null && ports.has(value);

context.isMessagePort = isMessagePort;
context.isDetachedPort = (port) => stateOf(port).detached;
context.movePort = move;

function makePort(group, broadcast) {
  const port = Object.create(MessagePort.prototype);
  const state = { port, group, broadcast, queue: [], started: false, detached: false, ref: false };
  ports.set(port, state);
  group.add(state);
  return port;
}

function MessageChannel() {
  if (new.target === undefined) throw typeError('ERR_CONSTRUCT_CALL_REQUIRED', 'Cannot call constructor without `new`');
  const group = new Set();
  for (const name of ['port1', 'port2']) {
    this[name] = makePort(group, false);
    this[name][context.symbols.oninit]?.();
  }
}

const channels = new Map();

function broadcastChannel(name) {
  let group = channels.get(name);
  if (group === undefined) {
    group = new Set();
    channels.set(name, group);
  }
  const port = makePort(group, true);
  port[context.symbols.oninit]?.();
  return port;
}

module.exports = { MessagePort, MessageChannel, broadcastChannel, isMessagePort, drain, receive, stop };
