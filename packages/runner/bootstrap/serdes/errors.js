// The errors that node_serdes.cc makes in C++. Code and text differ from the errors of Node's
// JavaScript. Next: writer.js and reader.js.
'use strict';

function withCode(message, code) {
  const error = new TypeError(message);
  error.code = code;
  return error;
}

const argumentError = (message) => withCode(message, 'ERR_INVALID_ARG_TYPE');
const callError = (name) => withCode(`Class constructor ${name} cannot be invoked without 'new'`, 'ERR_CONSTRUCT_CALL_REQUIRED');

module.exports = { argumentError, callError };
