// The surface of Node's bindings that the guest's bindings implement: `binding-surface.txt` has a
// line for each function, class, constant and array. If a new version of Node changes a binding
// that we implement, the build stops with the difference. A developer then sees the change before a
// program does. `node packages/runner/build/surface.mjs --accept` writes the file again
// (docs/internals/upgrading.md has the steps). Next: binding-shapes.cjs, which reads the bindings;
// bootstrap/internal-bindings/, which are ours.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const surfacePath = fileURLToPath(new URL('binding-surface.txt', import.meta.url));
const bindingsFolder = fileURLToPath(new URL('../bootstrap/internal-bindings', import.meta.url));

// The names of kinds, in the words of NATIVES.md, "Build inputs".
const KINDS = { n: 'number', s: 'string', b: 'boolean', big: 'bigint', sym: 'symbol', u: 'undefined', null: 'null' };
const COLLECTIONS = { a: 'array', map: 'map', set: 'set', ab: 'ArrayBuffer', cyc: 'object' };

/**
 * Returns lines such as `fs.access function`, in order. A nested object, such as an object of
 * constants, has a line for each property.
 */
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

/** Returns the names of the bindings that have a file of their own. */
export function implementedBindings() {
  const files = readdirSync(bindingsFolder).filter((file) => file.endsWith('.js'));
  return new Set(files.map((file) => file.slice(0, -3)));
}

const bindingOf = (line) => /^[^. ]+/.exec(line)[0];

/**
 * Returns the lines that only one of the lists has: `- ` and a line of `before`, or `+ ` and a line
 * of `after`.
 */
export function differences(before, after) {
  const [was, is] = [new Set(before), new Set(after)];
  const removed = before.filter((line) => !is.has(line)).map((line) => `- ${line}`);
  const added = after.filter((line) => !was.has(line)).map((line) => `+ ${line}`);
  return [...removed, ...added].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
}

/** Throws if a binding that we implement differs from the recorded surface. */
export function checkSurface(shapes, { recorded = readSurface(), implemented = implementedBindings() } = {}) {
  const found = differences(recorded, surfaceOf(shapes)).filter((line) => implemented.has(bindingOf(line.slice(2))));
  if (found.length === 0) return;
  throw new Error(
    [
      "Node's bindings differ from those that ours implement (- before, + now):",
      ...found.map((line) => `    ${line}`),
      'Handle each line (docs/internals/upgrading.md), then accept the list: node packages/runner/build/surface.mjs --accept',
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
