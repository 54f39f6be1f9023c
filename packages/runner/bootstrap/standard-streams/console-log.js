// Replaces `console.log` and the related methods by a function of the shim. If all state that
// Node's own path would read is unchanged, the function writes the line itself. Otherwise the
// function calls Node's method. A line costs some 30 µs through Node's console, Writable and
// SyncWriteStream, and about 1 µs through the shim. Most programs print lines of text. The state
// that may differ is listed as guards, which the shim checks at each call without running a getter.
// Next: ../start-up/preload.js.
'use strict';

const context = require('../context.js');
const stdio = require('./stdio.js');

function install() {
  const { process } = context;
  const globalConsole = context.requireBuiltin('internal/console/global');
  const replaced = { stdout: false, stderr: false };
  const streams = { stdout: undefined, stderr: undefined };
  stdio.install(() => {
    replaced.stdout = replaced.stderr = true;
    streams.stdout = streams.stderr = undefined;
  });
  watchStream(globalConsole, '_stdout', replaced, streams, 'stdout');
  watchStream(globalConsole, '_stderr', replaced, streams, 'stderr');
  const stdoutGuards = guardsFor(globalConsole, replaced, 'stdout', process.stdout);
  const stderrGuards = guardsFor(globalConsole, replaced, 'stderr', process.stderr);
  for (const name of ['log', 'info', 'debug']) replace(globalConsole, name, 1, stdoutGuards);
  for (const name of ['error', 'warn']) replace(globalConsole, name, 2, stderrGuards);
}

function replace(globalConsole, name, fd, guards) {
  const { channel } = context.requireBuiltin('diagnostics_channel');
  const all = [...guards, [channel(`console.${name}`), '_subscribers', undefined]];
  const log = native.makeLog(fd, globalConsole[name], all);
  Object.defineProperty(log, 'name', { value: name, configurable: true });
  globalConsole[name] = log;
}

// Node's console takes its stream at the first use, and `console._stdout = stream` replaces the
// stream. This property also replaces the stream, and records the new stream for the guards.
function watchStream(globalConsole, key, replaced, streams, name) {
  const { process } = context;
  Object.defineProperty(globalConsole, key, {
    configurable: true,
    enumerable: false,
    get() {
      // `process[name]` is read first, because its getter may clear `streams`.
      const now = process[name];
      streams[name] ||= now;
      return streams[name];
    },
    set(value) {
      replaced[name] = true;
      streams[name] = value;
    },
  });
}

function guardsFor(globalConsole, replaced, name, stream) {
  const { process } = context;
  const { inspectDefaultOptions } = context.requireBuiltin('internal/util/inspect');
  const SyncWriteStream = context.requireBuiltin('internal/fs/sync_write_stream');
  const { Writable } = context.requireBuiltin('stream');
  const state = stream._writableState;
  return [
    [replaced, name, false],
    [globalConsole, `_${name}`, getterOf(globalConsole, `_${name}`)],
    [globalConsole, symbolOf(globalConsole, 'kGroupIndentationString'), ''],
    [process, name, getterOf(process, name)],
    [stream, 'write', native.absent],
    [stream, '_write', native.absent],
    [SyncWriteStream.prototype, 'write', native.absent],
    [SyncWriteStream.prototype, '_write', SyncWriteStream.prototype._write],
    [Writable.prototype, 'write', Writable.prototype.write],
    [state, 'corked', 0],
    [state, 'length', 0],
    [inspectDefaultOptions, 'colors', false],
    [inspectDefaultOptions, 'numericSeparator', false],
    ...stateGuards(stream),
  ];
}

// Returns a list with one guard, for the bits of a stream's state word that change when the stream
// is ended or destroyed.
function stateGuards(stream) {
  const key = symbolOf(stream._writableState, 'kState');
  const { Writable } = context.requireBuiltin('stream');
  const probe = new Writable({ write() {}, emitClose: false });
  const before = probe._writableState[key];
  probe.end();
  probe.destroy();
  probe.on('error', () => {});
  const mask = probe._writableState[key] & ~before;
  return [[stream._writableState, key, stream._writableState[key] & mask, mask]];
}

const getterOf = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;

function symbolOf(object, description) {
  const symbol = Object.getOwnPropertySymbols(object).find((candidate) => candidate.description === description);
  if (symbol === undefined) throw new Error(`Node's objects lack ${description}, which console-log.js expects`);
  return symbol;
}

module.exports = { install };
