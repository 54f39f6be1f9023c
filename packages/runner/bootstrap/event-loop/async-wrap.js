// What: the base of everything that calls back later: requests, handles, parsers (async_wrap.h, `AsyncWrap`). It has an id, tells the hooks of
// `async_hooks` about its life, and remembers the async context (AsyncLocalStorage) in which it was made.
// Why hooks are looked at before every step: without a hook, which is nearly always, a callback costs two array reads more than a plain call.
// Next: bindings/async_wrap.js, which connects it; fs/answers.js and the handles, which extend it.
'use strict';

const activeHandles = require('./active-handles.js');
const context = require('../context.js');

const NO_EVENT = -1;

let fields;
let ids;
let constants;
let hooksOf;
let binding;

// bindings/async_wrap.js: the arrays that Node's JavaScript shares, and the functions that it registers.
function connect(asyncWrap, getHooks) {
  binding = asyncWrap;
  fields = asyncWrap.async_hook_fields;
  ids = asyncWrap.async_id_fields;
  constants = asyncWrap.constants;
  hooksOf = getHooks;
}

function newAsyncId() {
  return ++ids[constants.kAsyncIdCounter];
}

function triggerId() {
  const wanted = ids[constants.kDefaultTriggerAsyncId];
  return wanted < 0 ? ids[constants.kExecutionAsyncId] : wanted;
}

class AsyncWrap {
  #provider;
  #asyncId = NO_EVENT;
  #triggerId = 0;
  #frame;

  // `provider`: a name of Node's list, which is what hooks see as the type. Without one it is no event yet: `beginEvent` makes it one.
  constructor(provider) {
    if (provider !== undefined) this.beginEvent(provider, this);
  }

  getAsyncId() {
    return this.#asyncId;
  }
  get providerName() {
    return this.#provider;
  }
  getProviderType() {
    return binding.Providers[this.#provider];
  }
  getAsyncContextFrameForDebuggingOnly() {
    return this.#frame;
  }
  // A new id: what is used again is another event. `resource` is what hooks see of it.
  asyncReset(resource = this) {
    this.beginEvent(this.#provider, resource);
  }
  beginEvent(provider, resource) {
    this.emitDestroy();
    this.#provider = provider;
    if (resource !== this) this[context.symbols.resource_symbol] = resource;
    this.#asyncId = newAsyncId();
    this.#triggerId = triggerId();
    this.#frame = native.getContinuationData();
    if (fields[constants.kInit] > 0) hooksOf().init(this.#asyncId, this.#provider, this.#triggerId, resource);
  }
  // Nothing will call back any more.
  emitDestroy() {
    if (this.#asyncId === NO_EVENT) return;
    if (fields[constants.kDestroy] > 0) binding.queueDestroyAsyncId(this.#asyncId);
    this.#asyncId = NO_EVENT;
  }
  // Calls into the program, from the loop; ticks and microtasks run after it. An error is the program's.
  makeCallback(callback, ...args) {
    const before = native.getContinuationData();
    const depth = fields[constants.kStackLength];
    const asyncId = this.#asyncId;
    native.setContinuationData(this.#frame);
    binding.pushAsyncContext(asyncId, this.#triggerId);
    // what executionAsyncResource() gives
    binding.execution_async_resources[fields[constants.kStackLength] - 1] = this;
    let done = false;
    try {
      if (fields[constants.kBefore] > 0) hooksOf().before(asyncId);
      const result = Reflect.apply(callback, this, args);
      if (fields[constants.kAfter] > 0) hooksOf().after(asyncId);
      done = true;
      return result;
    } finally {
      // An error that leaves the outermost callback is handled as this event's; whoever does so unwinds the stack as a whole.
      if (done) binding.popAsyncContext(asyncId);
      else while (depth > 0 && fields[constants.kStackLength] > depth) binding.popAsyncContext(ids[constants.kExecutionAsyncId]);
      native.setContinuationData(before);
    }
  }
}

// A handle: something that may hold the loop until it is closed (handle_wrap.cc).
class HandleWrap extends AsyncWrap {
  #ref = true;
  #active = false;
  #closing = false;
  #closed = false;

  // `false`: a stream of the bindings that is no handle of the loop.
  constructor(provider, isHandle = true) {
    super(provider);
    if (isHandle) activeHandles.add(this);
  }

  // Whether it holds the loop, as far as `ref` and `unref` let it.
  setActive(active) {
    if (active === this.#active) return;
    this.#active = active;
    if (this.#ref) native.loop.keepAlive[0] += active ? 1 : -1;
  }
  get closing() {
    return this.#closing;
  }
  ref() {
    if (this.#ref || this.#closing) return;
    this.#ref = true;
    if (this.#active) native.loop.keepAlive[0]++;
  }
  unref() {
    if (!this.#ref || this.#closing) return;
    this.#ref = false;
    if (this.#active) native.loop.keepAlive[0]--;
  }
  hasRef() {
    return this.#ref && !this.#closed;
  }
  // `release` lets go of what the handle stands for; the callback comes in the loop's next round.
  close(callback) {
    if (this.#closing) return;
    this.setActive(false);
    this.#closing = true;
    this.release();
    native.enqueueTask(() => {
      this.#closed = true;
      activeHandles.remove(this);
      if (typeof callback === 'function') this.makeCallback(callback);
      this.emitDestroy();
    });
  }
  release() {}
}

module.exports = { AsyncWrap, HandleWrap, connect };
