// What: the base of everything that calls back later: requests, handles, parsers (async_wrap.h, `AsyncWrap`). It has an id, tells the hooks of
// `async_hooks` about its life, and remembers the async context (AsyncLocalStorage) in which it was made.
// Why hooks are looked at before every step: without a hook, which is nearly always, a callback costs two array reads more than a plain call.
// Next: bindings/async_wrap.js, which connects it; fs/answers.js and the handles, which extend it.
'use strict';

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
  #asyncId = 0;
  #triggerId = 0;
  #frame;

  // `provider`: a name of Node's list, which is what hooks see as the type.
  constructor(provider) {
    this.#provider = provider;
    this.asyncReset();
  }

  getAsyncId() {
    return this.#asyncId;
  }
  getProviderType() {
    return binding.Providers[this.#provider];
  }
  getAsyncContextFrameForDebuggingOnly() {
    return this.#frame;
  }
  // A new id: a request that is used again is another event.
  asyncReset() {
    this.#asyncId = newAsyncId();
    this.#triggerId = triggerId();
    this.#frame = native.getContinuationData();
    if (fields[constants.kInit] > 0) hooksOf().init(this.#asyncId, this.#provider, this.#triggerId, this);
  }
  // Nothing will call back any more.
  emitDestroy() {
    if (fields[constants.kDestroy] > 0) binding.queueDestroyAsyncId(this.#asyncId);
  }
  // Calls into the program, from the loop; ticks and microtasks run after it. An error is the program's.
  makeCallback(callback, ...args) {
    const before = native.getContinuationData();
    native.setContinuationData(this.#frame);
    binding.pushAsyncContext(this.#asyncId, this.#triggerId);
    // what executionAsyncResource() gives
    binding.execution_async_resources[fields[constants.kStackLength] - 1] = this;
    let done = false;
    try {
      if (fields[constants.kBefore] > 0) hooksOf().before(this.#asyncId);
      const result = Reflect.apply(callback, this, args);
      if (fields[constants.kAfter] > 0) hooksOf().after(this.#asyncId);
      done = true;
      return result;
    } finally {
      // After an error the stack is unwound as a whole, by whoever handles it.
      if (done) binding.popAsyncContext(this.#asyncId);
      native.setContinuationData(before);
    }
  }
}

// A handle: something that may hold the loop until it is closed (handle_wrap.cc).
class HandleWrap extends AsyncWrap {
  #ref = true;
  #active = false;
  #closing = false;

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
    return this.#ref && !this.#closing;
  }
  // `release` lets go of what the handle stands for; the callback comes in the loop's next round.
  close(callback) {
    if (this.#closing) return;
    this.setActive(false);
    this.#closing = true;
    this.release();
    native.enqueueTask(() => {
      if (typeof callback === 'function') this.makeCallback(callback);
      this.emitDestroy();
    });
  }
  release() {}
}

module.exports = { AsyncWrap, HandleWrap, connect };
