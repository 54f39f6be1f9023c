// Handles uncaught errors: calls Node's handler, and prints the report if there was no listener
// (node_errors.cc TriggerUncaughtException, ReportFatalException, GetErrorSource). Node does this
// work in C++. The report's text equals Node's text. Next: source-lines.js for the quoted line;
// ../event-loop/hooks.js, which registers `uncaught` as the shim's hook.
'use strict';

const context = require('../context.js');
const cell = require('../program/cell.js');
const { prepareSourceLines, quote } = require('./source-lines.js');
const { describe } = require('./describe.js');

const EXIT_CODE = 1;
const HAS_EXIT_CODE = 2;
const INVALID_FATAL_HANDLER = 6;
const ERROR_IN_FATAL_HANDLER = 7;

// The value that unwinds the stack after `triggerUncaughtException` has reported an error. A throw
// of this value reports no second error.
const REPORTED = { __proto__: null };

// Returns true if a listener handled the error. Otherwise returns false, and writes the report
// unless the error is REPORTED. Sets the exit code in `exitInfo` only if Node's handler is missing
// or throws.
function uncaught(error, fromPromise) {
  if (error === REPORTED) return false;
  const { process } = context;
  const thrownAt = fromPromise ? undefined : native.throwLocation(error);
  const handler = process._fatalException;
  if (typeof handler !== 'function') {
    report(error, thrownAt);
    setExitCode(INVALID_FATAL_HANDLER);
    return false;
  }
  try {
    if (handler.call(process, error, fromPromise) !== false) return true;
  } catch (inner) {
    report(inner, native.throwLocation(inner));
    setExitCode(ERROR_IN_FATAL_HANDLER);
    return false;
  }
  if (!cell.caught(error)) report(error, thrownAt);
  return false;
}

function setExitCode(code) {
  native.loop.exitInfo[EXIT_CODE] = code;
  native.loop.exitInfo[HAS_EXIT_CODE] = 1;
}

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

function report(error, thrownAt) {
  const { arrow_message_private_symbol: arrow, decorated_private_symbol: decorated } = context.privateSymbols;
  const isError = native.types.isNativeError(error);
  let text = '';
  let quoted = isObject(error) ? error[arrow] : undefined;
  if (quoted === undefined && !(isObject(error) && error[decorated])) {
    quoted = quote(thrownAt ?? locationOf(error));
    if (quoted !== undefined && !isError) {
      text += `\n${quoted}`;
      quoted = undefined;
    }
  }
  text += isObject(error) ? reportObject(error, error[decorated] ? undefined : quoted) : reportPrimitive(error);
  native.write(2, `${text}\nNode.js ${context.process.version}\n`);
}

function reportObject(error, quoted) {
  let stack;
  try {
    context.enhanceStackBefore(error);
    stack = context.enhanceStackAfter(error);
    // Node's own frames would follow a syntax error of the program. Without frames, inspect() adds
    // brackets.
    if (error instanceof SyntaxError && stack === `[${error.stack}]`) stack = error.stack;
  } catch {
    stack = describe(error);
  }
  return quoted === undefined ? `${stack}\n` : `${quoted}\n${stack}\n`;
}

function reportPrimitive(error) {
  const hint = '(Use `node --trace-uncaught ...` to show where the exception was thrown)';
  return `${String(error)}\n${hint}\n`;
}

// Returns where an error was made, which V8 reports if the error was never thrown. The shim returns
// the position until the stack has been read. Afterwards the stack's text has the position.
function locationOf(error) {
  if (!native.types.isNativeError(error)) return undefined;
  const position = native.errorPosition(error);
  if (position !== undefined) return position;
  const own = Object.getOwnPropertyDescriptor(error, 'stack');
  if (typeof own?.value !== 'string') return undefined;
  const frame = /^ +at (?:.*?\()?((?:file|node|data):.*?|\/.*?):(\d+):(\d+)\)?$/m.exec(own.value);
  return frame === null ? undefined : [frame[1], Number(frame[2]), Number(frame[3])];
}

module.exports = { uncaught, prepare: prepareSourceLines };
