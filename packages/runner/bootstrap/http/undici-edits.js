// Our changes to the text of undici, which is Node's `fetch` and `WebSocket`. Each change replaces
// a text that undici contains once. The build of the image stops if an upgrade of Node changes such
// a text. Next: undici-parser.js, which compiles the text.
'use strict';

// Adds the network error to the `error` event of a WebSocket. undici drops this error. Without the
// error, the event of a denied connection has no reason.
const NETWORK_ERROR = [
  ['handler.onSocketClose();', 'handler.onSocketClose(cause);'],
  ['__name(() => this.#onSocketClose(), "onSocketClose")', '__name((cause) => this.#onSocketClose(cause), "onSocketClose")'],
  ['#onSocketClose() {', '#onSocketClose(cause) {'],
  // The function is also a listener of the event `close`, whose argument is a boolean.
  [
    'error: new TypeError(reason)',
    `error: cause instanceof Error ? new TypeError(reason, { cause }) : new TypeError(reason),
     message: cause instanceof Error ? cause.message : ''`,
  ],
];

function edit(source) {
  // Removes the bytes of the two WebAssembly modules, because no program reads the bytes.
  let edited = source.replace(/(wasmBase64 = )"[^"]+"/g, '$1""');
  for (const [before, after] of NETWORK_ERROR) {
    const parts = edited.split(before);
    if (parts.length !== 2) throw new Error(`undici contains the text ${before} ${parts.length - 1} times instead of once`);
    edited = parts.join(after);
  }
  return edited;
}

module.exports = { edit };
