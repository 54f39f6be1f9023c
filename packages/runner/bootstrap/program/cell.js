// The cells of a resident runner. A cell is an evaluation whose declarations, results and error
// belong to a notebook. The shim passes the text to `begin` and runs the returned module. The shim
// calls `end` when the evaluation has ended. The results are the evaluation's return value, as
// JSON. Errors that no cell receives are kept for the next cell. Next: cell-source.js, display.js;
// ../errors/fatal.js reports uncaught errors to this file.
'use strict';

const context = require('../context.js');
const { moduleOf } = require('./cell-source.js');
const { bundleOf, encoded } = require('./display.js');
const shell = require('./shell.js');

const { stringify } = JSON;
const RESIDENT = 2;
const EXIT_CODE = 1;
const HAS_EXIT_CODE = 2;
/** The most errors that are kept for the next cell. */
const KEPT_ERRORS = 16;

// The running cell: its results, its error, and the functions for its module.
let current;
let isPrepared = false;
let kept = [];
let dropped = 0;

// Implements the shim's `cell` hook. Returns the text of a module, or the promise of a shell's
// cell.
function begin(text, isTypeScript, isCell) {
  const cell = { results: [], thrown: undefined, isOver: false, returns: isCell && native.returnsValue() };
  current = cell;
  const notebook = shell.notebook();
  if (notebook !== undefined) return runShell(notebook, text);
  cell.meta = metaOf(cell);
  if (!isPrepared) prepare();
  return moduleOf(isTypeScript ? stripped(text) : text);
}

function stripped(text) {
  return context.requireBuiltin('internal/modules/typescript').stripTypeScriptTypesForCoverage(text);
}

async function runShell(notebook, text) {
  const exitCode = await notebook.evaluate(text);
  native.loop.exitInfo[EXIT_CODE] = exitCode;
  native.loop.exitInfo[HAS_EXIT_CODE] = 1;
}

// Defines the globals that cells have besides the globals of programs.
function prepare() {
  isPrepared = true;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  define('display', display);
  const { process } = context;
  define('require', context.requireBuiltin('module').createRequire(`${process.cwd()}/[cell]`));
}

// Adds a result to the running cell. Between two cells, prints the value. With `raw`, the value is
// a bundle.
async function display(value, options) {
  const cell = current;
  const data = options?.raw === true ? encoded(value) : await bundleOf(value);
  if (cell === undefined || cell.isOver) console.log(data['text/plain'] ?? data);
  else cell.results.push({ data, isMain: false });
}

// Returns `import.meta.cell` of the cell's module.
function metaOf(cell) {
  return {
    __proto__: null,
    declare: (names) => names.forEach(declare),
    add: (names) => names.filter((name) => !(name in globalThis)).forEach(declare),
    share: (name, value) => share(name, value),
    value: async (value) => {
      if (value === undefined) return;
      const data = await bundleOf(value);
      if (!cell.isOver) cell.results.push({ data, isMain: true });
    },
  };
}

// Makes a property of the global object that assignments can change. An accessor, such as `crypto`,
// may have no setter.
function declare(name) {
  const own = Object.getOwnPropertyDescriptor(globalThis, name);
  if (own !== undefined && (own.writable || !own.configurable)) return;
  Object.defineProperty(globalThis, name, { value: own?.value, writable: true, configurable: true, enumerable: true });
}

function share(name, value) {
  if (typeof value === 'function' && value.name === `__coldframe_${name}`) {
    Object.defineProperty(value, 'name', { value: name, configurable: true });
  }
  declare(name);
  globalThis[name] = value;
}

// Returns `import.meta.cell` of the module that is linked now, or undefined.
const meta = () => current?.meta;

// Records an uncaught error. Returns whether a cell reports the error.
function caught(error) {
  if (current === undefined) {
    // Between two evaluations, the error is also printed for the next evaluation.
    if (native.mode() === RESIDENT && !native.isEvaluating()) keep(error);
    return false;
  }
  current.thrown ??= describe(error);
  return true;
}

// The exit code of the error does not apply to the next evaluation.
function keep(error) {
  native.loop.exitInfo[EXIT_CODE] = 0;
  native.loop.exitInfo[HAS_EXIT_CODE] = 0;
  if (kept.length < KEPT_ERRORS) kept.push(describe(error));
  else dropped++;
}

function describe(error) {
  const isError = native.types.isNativeError(error) || error instanceof Error;
  try {
    if (isError) return { name: String(error.name), message: String(error.message), stack: String(error.stack) };
    const text = context.requireBuiltin('internal/util/inspect').inspect(error);
    return { name: 'Uncaught', message: text, stack: `Uncaught ${text}` };
  } catch {
    // The error's own properties throw.
    return { name: 'Error', message: 'the error cannot be described', stack: 'Error: the error cannot be described' };
  }
}

// Ends the running cell. Its results become the return value of the evaluation.
function end() {
  const cell = leave();
  if (cell === undefined || !cell.returns) return;
  const { results, thrown } = cell;
  native.setReturnValue(stringify({ results, thrown, earlier: kept, droppedErrors: dropped }));
  kept = [];
  dropped = 0;
}

// Ends the running cell without a return value, because the sidecar has ended the evaluation.
function abandon() {
  leave();
  shell.notebook()?.abandon();
}

function leave() {
  const cell = current;
  current = undefined;
  if (cell !== undefined) cell.isOver = true;
  return cell;
}

module.exports = { abandon, begin, caught, end, meta };
