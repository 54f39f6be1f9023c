// Quotes the source line above an error report: `file:line`, the line, and carets below the place
// (node_errors.cc GetErrorSource). Node's own files need a table, because the image does not
// contain their source. The table has the lines that throw or make errors, a small part of the
// source. Next: fatal.js.
'use strict';

const context = require('../context.js');
const { ids, sourceOf } = require('../start-up/builtins.js');
const { NUMBERS, sys } = require('../fs/calls.js');

const LARGEST_FILE = 1 << 20;

// The texts of programs that `--eval` passes, by compiled name.
const evaluated = new Map();

const keepText = (file, text) => evaluated.set(file, text);

// Builtin id → its throwing lines, each as `\n<number>:<text>`, with a final newline.
const throwing = new Map();

const THROWS = /\bthrow\b|new (?:\w*Error\b|ERR_|UnhandledPromiseRejection)|triggerUncaughtException\(/;

function prepareSourceLines() {
  for (const id of ids) {
    if (id.startsWith('internal/deps/')) continue;
    const source = sourceOf(id);
    if (source === undefined) continue;
    let table = '';
    source.split('\n').forEach((line, index) => {
      if (THROWS.test(line)) table += `\n${index + 1}:${line}`;
    });
    if (table !== '') throwing.set(`node:${id}`, `${table}\n`);
  }
}

function lineOf(file, number) {
  const table = throwing.get(file);
  if (table !== undefined) {
    const start = table.indexOf(`\n${number}:`);
    if (start === -1) return undefined;
    const from = table.indexOf(':', start) + 1;
    return table.slice(from, table.indexOf('\n', from));
  }
  const source = evaluated.get(file) ?? native.sourceOf(file) ?? textOfFile(file);
  return source === undefined ? undefined : source.split(/\r?\n/)[number - 1];
}

// Reads a program from its file, because the engine does not keep the source text. Returns
// undefined for a relative path, and for a file that cannot be read or is larger than LARGEST_FILE.
function textOfFile(file) {
  const path = file.startsWith('file://') ? context.requireBuiltin('internal/url').fileURLToPath(file) : file;
  if (!path.startsWith('/')) return undefined;
  const bytes = new Uint8Array(LARGEST_FILE);
  const length = sys(NUMBERS.readFile, path, bytes);
  if (length < 0 || length > LARGEST_FILE) return undefined;
  return native.decode(bytes, 0, length, native.encodings.utf8);
}

// Returns the quote for `location`: [file, line, column, length?], 1-based; undefined if no line
// can be quoted.
function quote(location) {
  if (location === undefined) return undefined;
  const [file, number, column, length = 1] = location;
  const line = lineOf(file, number);
  if (line === undefined) return undefined;
  const indent = line.slice(0, Math.max(column - 1, 0)).replace(/[^\t]/g, ' ');
  return `${file}:${number}\n${line}\n${indent}${'^'.repeat(length)}\n`;
}

module.exports = { keepText, lineOf, prepareSourceLines, quote };
