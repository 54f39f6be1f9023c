// The base class of every object that calls back later: requests, handles, parsers (`AsyncWrap` of
// async_wrap.h). The object has an id and notifies the hooks of `async_hooks` about its life. The
// object also keeps the async context (AsyncLocalStorage) that was current when the object was made
// or reset. The class checks the number of hooks before each step, so that no function of Node's
// hooks is called without a hook, the usual case. Next: ../internal-bindings/async_wrap.js, which
// connects this class; ../fs/answers.js and the handles, which extend this class.
'use strict';

const activeHandles = require('./active-handles.js');
const context = require('../context.js');

const NO_EVENT = -1;

let fields;
let ids;
let constants;
let hooksOf;
let binding;

// Stores the arrays that Node's JavaScript shares, and the function that returns the hooks that
// Node's JavaScript registers. Called by internal-bindings/async_wrap.js.
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

  // `provider` is a name in Node's list, which hooks receive as the type. Without a provider, hooks
  // are not notified of the object until `beginEvent` is called.
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
  // Assigns a new id, because each use of a reused object is a new event. Hooks receive `resource`.
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
  // Notifies the `destroy` hooks that no callback will follow.
  emitDestroy() {
    if (this.#asyncId === NO_EVENT) return;
    if (fields[constants.kDestroy] > 0) binding.queueDestroyAsyncId(this.#asyncId);
    this.#asyncId = NO_EVENT;
  }
  // Calls `callback` with the ids and the async context of this event, and notifies the hooks
  // before and after. The loop runs ticks and microtasks afterwards, and reports a thrown error as
  // uncaught.
  makeCallback(callback, ...args) {
    const before = native.getContinuationData();
    const depth = fields[constants.kStackLength];
    const asyncId = this.#asyncId;
    native.setContinuationData(this.#frame);
    binding.pushAsyncContext(asyncId, this.#triggerId);
    // `executionAsyncResource()` returns this object during the callback.
    binding.execution_async_resources[fields[constants.kStackLength] - 1] = this;
    let done = false;
    try {
      if (fields[constants.kBefore] > 0) hooksOf().before(asyncId);
      const result = Reflect.apply(callback, this, args);
      if (fields[constants.kAfter] > 0) hooksOf().after(asyncId);
      done = true;
      return result;
    } finally {
      // An error that leaves the outermost callback is handled as an error of this event. The
      // error's handler clears the whole stack of ids.
      if (done) binding.popAsyncContext(asyncId);
      else while (depth > 0 && fields[constants.kStackLength] > depth) binding.popAsyncContext(ids[constants.kExecutionAsyncId]);
      native.setContinuationData(before);
    }
  }
}

// A handle, which can keep the event loop alive until it is closed (handle_wrap.cc).
class HandleWrap extends AsyncWrap {
  #ref = true;
  #active = false;
  #closing = false;
  #closed = false;

  // `isHandle` is false for a stream of the bindings that never keeps the event loop alive.
  constructor(provider, isHandle = true) {
    super(provider);
    if (isHandle) activeHandles.add(this);
  }

  // Sets whether the handle keeps the event loop alive, unless `unref` was called.
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
  // Closes the handle. `release` frees the handle's resource. The callback runs in the next round
  // of the loop.
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
