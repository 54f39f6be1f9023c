// docs/limits.md, the sidecar's table of limits and the SDK's options agree.

import { expect, test } from 'vitest';
import { LIMITS } from '../../packages/sdk/src/options/limits.ts';
import { readText } from './tree.mjs';

/** Reads a number as Rust or TypeScript writes it, with underscores and a shift. */
function value(text) {
  const [number, shift] = text.replaceAll('_', '').split('<<');
  return Number(number) * 2 ** Number(shift ?? 0);
}

const ROW = /^ {4}(\w+) "(\w+)" = ([\d_ <]+), hardened ([\d_ <]+), ([\d_]+) to ([\d_ <]+);$/gm;
const limits = [...readText('packages/sidecar/crates/kernel/src/limits.rs').matchAll(ROW)].map(
  ([, field, name, standard, hardened, min, max]) => ({
    field,
    name,
    standard: value(standard),
    hardened: value(hardened),
    min: value(min),
    max: value(max),
  }),
);

const page = readText('docs/limits.md');
const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| (\w*) ?\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, name, standard, hardened, unit, , , places]) => ({ name, standard, hardened, unit, places }),
);
const shown = (number) => number.toLocaleString('en-US');

test('reads the whole table of the sidecar', () => {
  const rows = readText('packages/sidecar/crates/kernel/src/limits.rs').match(/^ {4}\w+ "\w+" = /gm);
  expect(limits.length).toBe(rows?.length);
  expect(limits.length).toBeGreaterThan(20);
});

test('finds every limit with its numbers in docs/limits.md', () => {
  expect(rows.map(({ name, standard, hardened }) => [name, standard, hardened])).toEqual(
    limits.map(({ name, standard, hardened }) => [name, shown(standard), shown(hardened)]),
  );
});

test('finds the unit of each limit in its name', () => {
  const units = { Bytes: 'bytes', Ms: 'milliseconds' };
  for (const { name, unit } of rows) expect([name, unit]).toEqual([name, units[/(?:Bytes|Ms)$/.exec(name)?.[0]] ?? '']);
});

test('finds the name of each limit in the files that enforce the limit', () => {
  const root = 'packages/sidecar/crates/';
  for (const { name, places } of rows) {
    const field = limits.find((limit) => limit.name === name)?.field;
    const texts = [...places.matchAll(/`([^`]+)`/g)].map(([, path]) => readText(root + path));
    expect(texts.length, name).toBeGreaterThan(0);
    const words = [field, name, ...(IN_OTHER_WORDS[name] ?? [])];
    for (const text of texts)
      expect(
        words.some((word) => text.includes(word)),
        `${name} in ${places}`,
      ).toBe(true);
  }
});

// The names of a limit in files that use other names.
const IN_OTHER_WORDS = {
  memoryBytes: ['memory_limit'],
  totalMemoryBytes: ['Resource::Memory', 'charge.raise_to'],
  kernelBytes: ['Self::Kernel'],
  processes: ['self.limit'],
  descriptors: ['self.limit'],
  pipeBytes: ['self.capacities()'],
  socketBytes: ['self.capacities()'],
  filesystemBytes: ['limits.bytes'],
  inodes: ['limits.inodes'],
  hostFiles: ['Resource::HostFiles'],
  outputBytes: ['self.limit'],
  wallMs: ['limits().wall()'],
};

test('finds the sidecar’s limits and bounds in the options of the SDK', () => {
  const { profile, ...options } = LIMITS;
  const bounds = Object.entries(options).map(([name, { expected }]) => {
    const [, min, max] = /from (\d+) to (\d+)$/.exec(expected);
    return [name, Number(min), Number(max)];
  });
  expect(bounds).toEqual([...limits.map(({ name, min, max }) => [name, min, max]), ['fetchResponseBytes', 0, 536_870_888]]);
});

test('finds the sidecar’s defaults in the comments of the options', () => {
  const types = readText('packages/sdk/src/options/limits.ts');
  const documented = [...types.matchAll(/@default ([\d_]+)[^@]*?\*\/\n {2}(\w+)\?: number \| undefined;/g)];
  const own = value(/const DEFAULT_RESPONSE_BYTES = ([\d_]+);/.exec(readText('packages/sdk/src/network/fetch.ts'))?.[1] ?? '');
  expect(documented.map(([, number, name]) => [name, value(number)])).toEqual([
    ...limits.map(({ name, standard }) => [name, standard]),
    ['fetchResponseBytes', own],
  ]);
  expect(page).toContain(`\`fetchResponseBytes\`, ${shown(own)} in both profiles`);
});

test('finds every limit in docs/api/runtime.md', () => {
  const api = readText('docs/api/runtime.md');
  expect(limits.map(({ name }) => name).filter((name) => !api.includes(`\`limits.${name}\``))).toEqual([]);
});

test('finds the fixed bounds of the page in the code', () => {
  const bounds = [...page.matchAll(/^\| [^|]+ \| ([\d,]+) \| [^|]+ \| `([^`]+)` `(\w+)` \|$/gm)];
  expect(bounds.length).toBe(page.match(/^\| [^|`]+ \| [\d,]+ \|/gm)?.length);
  for (const [, number, path, name] of bounds) {
    const text = readText(`packages/sidecar/crates/${path}`);
    const constant = new RegExp(`const ${name}: \\w+ = ([\\d_ <]+);`).exec(text)?.[1];
    expect([path, name, shown(value(constant ?? ''))]).toEqual([path, name, number]);
  }
});
