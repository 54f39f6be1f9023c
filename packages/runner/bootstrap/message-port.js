// What: MessageChannel and MessagePort. Messages are cloned when they are posted and delivered by a task of the loop each.
// Why ports hold the loop only while `ref`ed: Node's EventTarget half calls `ref` when a listener comes and `unref` when the last one goes.
// Next: bindings/messaging.js.
'use strict';

const context = require('./context.js');
const { structuredClone } = require('./structured-clone.js');

const ports = new WeakMap();

const stateOf = (port) => {
  const state = ports.get(port);
  if (state === undefined) throw new TypeError('Illegal invocation');
  return state;
};

class MessagePort {
  constructor() {
    const { ERR_CONSTRUCT_CALL_INVALID } = context.requireBuiltin('internal/errors').codes;
    throw new ERR_CONSTRUCT_CALL_INVALID();
  }
  postMessage(...args) {
    if (args.length === 0) {
      const { ERR_MISSING_ARGS } = context.requireBuiltin('internal/errors').codes;
      throw new ERR_MISSING_ARGS('message');
    }
    const [value, options] = args;
    const state = stateOf(this);
    const transfer = Array.isArray(options) ? options : (options?.transfer ?? []);
    const message = structuredClone(value, { transfer });
    const { peer } = state;
    if (peer === null) return;
    const peerState = stateOf(peer);
    peerState.queue.push(message);
    if (peerState.started) deliverLater(peer);
  }
  start() {
    stateOf(this).started = true;
    deliverLater(this);
  }
  close() {
    const state = stateOf(this);
    if (state.closed) return;
    state.closed = true;
    setRef(state, false);
    native.enqueueTask(() => this[context.symbols.handle_onclose]?.());
    const { peer } = state;
    state.peer = null;
    if (peer !== null) {
      stateOf(peer).peer = null;
      native.enqueueTask(() => peer.close());
    }
  }
  drain() {
    drain(this);
  }
  ref() {
    setRef(stateOf(this), true);
  }
  unref() {
    setRef(stateOf(this), false);
  }
  hasRef() {
    return stateOf(this).ref;
  }
}

function setRef(state, ref) {
  if (state.ref === ref || (ref && state.closed)) return;
  state.ref = ref;
  native.loop.keepAlive[0] += ref ? 1 : -1;
}

function deliverLater(port) {
  const state = stateOf(port);
  if (state.scheduled || state.queue.length === 0) return;
  state.scheduled = true;
  native.enqueueTask(() => {
    state.scheduled = false;
    if (!state.started || state.queue.length === 0) return;
    try {
      deliver(port, state.queue.shift());
    } finally {
      deliverLater(port);
    }
  });
}

function deliver(port, message) {
  context.perContextExports.emitMessage.call(port, message, [], 'message');
}

function drain(port) {
  const state = stateOf(port);
  while (state.queue.length > 0) deliver(port, state.queue.shift());
}

function receive(port) {
  const { queue } = stateOf(port);
  return queue.length > 0 ? queue.shift() : context.symbols.no_message_symbol;
}

function stop(port) {
  stateOf(port).started = false;
}

function makePort() {
  const port = Object.create(MessagePort.prototype);
  ports.set(port, { queue: [], started: false, scheduled: false, closed: false, ref: false, peer: null });
  return port;
}

function MessageChannel() {
  if (new.target === undefined) {
    const { ERR_CONSTRUCT_CALL_REQUIRED } = context.requireBuiltin('internal/errors').codes;
    throw new ERR_CONSTRUCT_CALL_REQUIRED('MessageChannel');
  }
  const port1 = makePort();
  const port2 = makePort();
  stateOf(port1).peer = port2;
  stateOf(port2).peer = port1;
  port1[context.symbols.oninit]?.();
  port2[context.symbols.oninit]?.();
  this.port1 = port1;
  this.port2 = port2;
}

module.exports = { MessagePort, MessageChannel, drain, receive, stop };
