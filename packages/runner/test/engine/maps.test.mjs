// Tests how the keys of maps and sets are spread over the buckets of the hash table. The tests read
// the table in the guest's memory, because programs cannot observe the buckets.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BareGuest } from './bare-guest.mjs';

/** A number of keys that no other map of the guest has. The engine makes 512 buckets for them. */
const KEYS = 1009;
const BUCKETS = 512;
/** A random hash leaves one of seven buckets empty, and puts about eight keys in the fullest. */
const LEAST_USED = 400;
const MOST_IN_A_BUCKET = 16;

/** Offsets in bytes in the engine's struct JSMapState. A list head is two pointers: prev, next. */
const MAP = { recordCount: 12, table: 16, tableSize: 20, threshold: 24, size: 28 };
const LIST_HEAD = { next: 4, size: 8 };

/** Returns the lengths of the buckets of every map that has `KEYS` keys. */
function tablesOf({ memory }) {
  const words = new Uint32Array(memory.buffer);
  const at = (address) => words[address >>> 2];
  const tables = [];
  for (let map = 0; map + MAP.size <= memory.buffer.byteLength; map += 4) {
    if (at(map + MAP.recordCount) !== KEYS || at(map + MAP.tableSize) !== BUCKETS) continue;
    if (at(map + MAP.threshold) !== 2 * BUCKETS) continue;
    tables.push(Array.from({ length: BUCKETS }, (_, i) => lengthOf(at, at(map + MAP.table) + i * LIST_HEAD.size)));
  }
  return tables;
}

function lengthOf(at, head) {
  let length = 0;
  for (let item = at(head + LIST_HEAD.next); item !== head && length <= KEYS; item = at(item + LIST_HEAD.next)) length++;
  return length;
}

const guest = new BareGuest();

describe('the keys of a collection are spread over its buckets', () => {
  it.each([
    ['integers', 'i'],
    ['negative integers', '-i - 1'],
    ['multiples of 4096', 'i * 4096'],
    ['integers beyond 31 bits', '2 ** 40 + i'],
    ['times in milliseconds', '1.7e12 + i * 1000'],
    ['fractions', 'i / 8'],
    ['powers of two', '2 ** (i - 500)'],
    ['BigInts', 'BigInt(i)'],
    ['strings', '`key ${i}`'],
    ['symbols', 'Symbol()'],
    ['objects', '({})'],
    ['arrays', '[i]'],
    ['functions', '() => i'],
  ])('%s', async (_name, key) => {
    const { exitCode, out } = await guest.run(`
      const keys = Array.from({ length: ${KEYS} }, (_, i) => ${key});
      globalThis.map = new Map(keys.map((key, i) => [key, i]));
      print(map.size, keys.every((key, i) => map.get(key) === i));`);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: `${KEYS} true\n` });
    const tables = tablesOf(guest.guest);
    expect(tables.map((lengths) => lengths.reduce((sum, length) => sum + length, 0))).toEqual([KEYS]);
    expect(tables[0].filter((length) => length > 0).length).toBeGreaterThanOrEqual(LEAST_USED);
    expect(Math.max(...tables[0])).toBeLessThanOrEqual(MOST_IN_A_BUCKET);
  });

  it.each(['Set', 'WeakSet'])('of a %s', async (name) => {
    await guest.run(`
      globalThis.keys = Array.from({ length: ${KEYS} }, () => ({}));
      globalThis.set = new ${name}(keys);`);
    const [lengths] = tablesOf(guest.guest);
    expect(lengths.filter((length) => length > 0).length).toBeGreaterThanOrEqual(LEAST_USED);
  });
});

it('equal numbers are one key', async () => {
  const { out } = await guest.run(`
    const half = 0.5, map = new Map([[1, 'one'], [0, 'zero'], [NaN, 'none'], [2 ** 31, 'large']]);
    print(map.get(half + half), map.get(-0), map.get(-half * 0), map.get(half - undefined), map.get(2 ** 30 * 2));
    print(map.get(1n), map.get('1'), map.get(true), map.size);`);
  expect(out).toBe('one zero zero none large\nundefined undefined undefined 4\n');
});

it('a map of the image finds its keys, and takes new keys', async () => {
  const bare = readFileSync(new URL('bare.js', import.meta.url), 'utf8');
  const main = Buffer.from(`${bare}\nglobalThis.objects = Array.from({ length: 300 }, (_, i) => ({ i }));
    globalThis.kept = new Map(objects.flatMap((object, i) => [[object, i], [i, i]]));`);
  const { out } = await new BareGuest({ main }).run(`
    for (let i = 300; i < 900; i++) { objects.push({ i }); kept.set(objects[i], i).set(i, i); }
    print(kept.size, objects.every((object, i) => kept.get(object) === i && kept.get(i) === i));
    for (let i = 0; i < 900; i += 2) { kept.delete(i); kept.delete(objects[i]); }
    print(kept.size, objects.every((object, i) => kept.has(i) === (i % 2 === 1) && kept.has(object) === kept.has(i)));`);
  expect(out).toBe('1800 true\n900 true\n');
});
