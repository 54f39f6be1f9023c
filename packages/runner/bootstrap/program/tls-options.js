// Node's options of TLS, which Node's library reads while the image is made. This file repeats the
// decisions of lib/tls.js and lib/internal/tls/wrap.js for a process that has such options. Next:
// options.js.
'use strict';

const context = require('../context.js');

// Options and the versions of Node's API, the stronger option first.
const LEAST = [
  ['--tls-min-v1.0', 'TLSv1'],
  ['--tls-min-v1.1', 'TLSv1.1'],
  ['--tls-min-v1.2', 'TLSv1.2'],
  ['--tls-min-v1.3', 'TLSv1.3'],
];
const MOST = [
  ['--tls-max-v1.3', 'TLSv1.3'],
  ['--tls-max-v1.2', 'TLSv1.2'],
];
const OWNER_ONLY = 0o600;

const chosen = (values, versions) => versions.find(([option]) => values[option])?.[1];

// Returns the reason why the options contradict each other, or undefined.
function conflictOf(values) {
  const conflicts = values['--tls-min-v1.3'] && values['--tls-max-v1.2'];
  return conflicts ? 'either --tls-min-v1.3 or --tls-max-v1.2 can be used, not both' : undefined;
}

// Applies the versions, the suites, the key log and the trace.
function applyTlsOptions(values) {
  const tls = context.requireBuiltin('tls');
  tls.DEFAULT_MIN_VERSION = chosen(values, LEAST) ?? tls.DEFAULT_MIN_VERSION;
  tls.DEFAULT_MAX_VERSION = chosen(values, MOST) ?? tls.DEFAULT_MAX_VERSION;
  tls.DEFAULT_CIPHERS = values['--tls-cipher-list'];
  if (values['--tls-keylog'] !== '') writeKeyLog(tls.TLSSocket.prototype, values['--tls-keylog']);
  if (values['--trace-tls']) trace(tls.TLSSocket.prototype);
}

// Traces each socket without an option `enableTrace`, as in Node's `TLSSocket`.
function trace(prototype) {
  const { _init: init } = prototype;
  let isFirst = true;
  prototype._init = function _init(...args) {
    Reflect.apply(init, this, args);
    if (this._tlsOptions.enableTrace !== undefined && this._tlsOptions.enableTrace !== null) return;
    this._handle.enableTrace();
    if (!isFirst) return;
    isFirst = false;
    context.process.emitWarning('Enabling --trace-tls can expose sensitive data in the resulting log.');
  };
}

// Appends the key log of each socket to a file, as in Node's `TLSSocket.prototype._init`.
function writeKeyLog(prototype, file) {
  const { appendFile } = context.requireBuiltin('fs');
  const { _init: init } = prototype;
  let isFirst = true;
  let isFirstFailure = true;
  prototype._init = function _init(...args) {
    Reflect.apply(init, this, args);
    if (isFirst) {
      isFirst = false;
      context.process.emitWarning(
        `Using --tls-keylog makes TLS connections insecure by writing secret key material to file ${file}`,
      );
    }
    this.on('keylog', (line) => {
      appendFile(file, line, { mode: OWNER_ONLY }, (error) => {
        if (!error || !isFirstFailure) return;
        isFirstFailure = false;
        context.process.emitWarning(`Failed to write TLS keylog (this warning will not be repeated): ${error}`);
      });
    });
  };
}

module.exports = { applyTlsOptions, conflictOf };
