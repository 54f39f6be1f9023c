// Requests of streams: a write or a shutdown that did not finish at once, and a connect
// (req_wrap.h). A request receives its asynchronous id when the request is dispatched. Most writes
// finish at once, and hooks must not be notified of these writes. Next: stream-base.js.
'use strict';

const { AsyncWrap } = require('../event-loop/async-wrap.js');

class Request {
  #wrap;
  #ref = false;

  // The provider's name, which hooks receive as the type.
  get provider() {
    return 'WRITEWRAP';
  }
  // Assigns an id. The request keeps the event loop alive, unless `ref` is false.
  dispatch(ref = true) {
    this.#wrap = new AsyncWrap(this.provider);
    this.#ref = ref;
    if (ref) native.loop.keepAlive[0]++;
  }
  // Calls `oncomplete(status, ...)` if the request was dispatched. The request no longer keeps the
  // event loop alive.
  finish(...args) {
    const wrap = this.#wrap;
    if (wrap === undefined) return;
    this.#wrap = undefined;
    if (this.#ref) native.loop.keepAlive[0]--;
    try {
      if (typeof this.oncomplete === 'function') wrap.makeCallback(() => this.oncomplete(...args));
    } finally {
      wrap.emitDestroy();
    }
  }
  getAsyncId() {
    return this.#wrap?.getAsyncId() ?? -1;
  }
  asyncReset() {
    this.#wrap?.asyncReset();
  }
  getProviderType() {
    return this.#wrap?.getProviderType() ?? 0;
  }
}

function requestClass(name, provider) {
  const Class = { [name]: class extends Request {} }[name];
  Object.defineProperty(Class.prototype, 'provider', { value: provider });
  return Class;
}

const WriteWrap = requestClass('WriteWrap', 'WRITEWRAP');
const ShutdownWrap = requestClass('ShutdownWrap', 'SHUTDOWNWRAP');
const TCPConnectWrap = requestClass('TCPConnectWrap', 'TCPCONNECTWRAP');
const PipeConnectWrap = requestClass('PipeConnectWrap', 'PIPECONNECTWRAP');
const SendWrap = requestClass('SendWrap', 'UDPSENDWRAP');

module.exports = { WriteWrap, ShutdownWrap, TCPConnectWrap, PipeConnectWrap, SendWrap };
