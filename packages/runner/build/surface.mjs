// What Node's bindings offered when ours were written: `binding-surface.txt`, a line for each function, class, constant and array. A new version of
// Node that changes a binding which we implement stops the build with the difference, so that somebody looks at it before a program does.
// `node packages/runner/build/surface.mjs --accept` writes the file anew (docs/internals/upgrading.md says when).
// Next: binding-shapes.cjs, which reads the bindings; bootstrap/internal-bindings/, which are ours.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const surfacePath = fileURLToPath(new URL('binding-surface.txt', import.meta.url));
const bindingsFolder = fileURLToPath(new URL('../bootstrap/internal-bindings', import.meta.url));

// Words of the format in NATIVES.md, "Build inputs".
const KINDS = { n: 'number', s: 'string', b: 'boolean', big: 'bigint', sym: 'symbol', u: 'undefined', null: 'null' };
const COLLECTIONS = { a: 'array', map: 'map', set: 'set', ab: 'ArrayBuffer', cyc: 'object' };

/** `fs.access function` and the like, in order; objects of constants go one level down. */
export function surfaceOf(shapes) {
  const lines = [];
  for (const [binding, shape] of Object.entries(shapes)) {
    if (!binding.startsWith('__')) describe(binding, shape, lines, 0);
  }
  return lines.sort();
}

const MAX_DEPTH = 2;

function describe(name, shape, lines, depth) {
  if (shape.t === 'o' && depth < MAX_DEPTH && Object.keys(shape.v).length > 0) {
    for (const [key, inner] of Object.entries(shape.v)) describe(`${name}.${key}`, inner, lines, depth + 1);
    return;
  }
  lines.push(`${name} ${kindOf(shape)}`);
}

function kindOf(shape) {
  if (shape.t === 'f') {
    const methods = shape.cls && [...shape.cls.m, ...shape.cls.chain];
    return methods?.length > 0 ? `class: ${methods.sort().join(' ')}` : 'function';
  }
  if (shape.t === 'ta') return `${shape.k}(${shape.l})`;
  return KINDS[shape.t] ?? COLLECTIONS[shape.t] ?? 'object';
}

/** Bindings with a file of their own. */
export function implementedBindings() {
  const files = readdirSync(bindingsFolder).filter((file) => file.endsWith('.js'));
  return new Set(files.map((file) => file.slice(0, -3)));
}

const bindingOf = (line) => /^[^. ]+/.exec(line)[0];

/** Lines that are on one side only: `- was`, `+ is`. */
export function differences(before, after) {
  const [was, is] = [new Set(before), new Set(after)];
  const gone = before.filter((line) => !is.has(line)).map((line) => `- ${line}`);
  const fresh = after.filter((line) => !was.has(line)).map((line) => `+ ${line}`);
  return [...gone, ...fresh].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
}

/** Throws when a binding that we implement looks other than when it was written. */
export function checkSurface(shapes, { recorded = readSurface(), implemented = implementedBindings() } = {}) {
  const found = differences(recorded, surfaceOf(shapes)).filter((line) => implemented.has(bindingOf(line.slice(2))));
  if (found.length === 0) return;
  throw new Error(
    [
      "Node's bindings are not those that ours were written for (- before, + now):",
      ...found.map((line) => `    ${line}`),
      'Look at each (docs/internals/upgrading.md), then accept the list: node packages/runner/build/surface.mjs --accept',
    ].join('\n'),
  );
}

export function readSurface() {
  return readFileSync(surfacePath, 'utf8').split('\n').filter(Boolean);
}

async function accept() {
  const { extractNodeLibrary } = await import('./node-lib.mjs');
  const shapes = JSON.parse(readFileSync(join(await extractNodeLibrary(), 'shapes.json'), 'utf8'));
  const lines = surfaceOf(shapes);
  writeFileSync(surfacePath, `${lines.join('\n')}\n`);
  process.stdout.write(`${surfacePath}: ${lines.length} lines\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === '--accept') await accept();
