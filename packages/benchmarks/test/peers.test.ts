// Tests the benchmark of peers without their packages: the catalogue, the installation and the code
// of the peers. Fake peers are right, wrong, or not installed.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adapters } from '../src/peers/adapters/index.js';
import { type PeerSetup, peersBenchmark } from '../src/peers/benchmark.js';
import { type Peer, peers } from '../src/peers/catalogue.js';
import type { PeerHost } from '../src/peers/host.js';
import { installPeer, peerCache } from '../src/peers/install.js';
import { measurePeers, type OpenPeer, type PeerShape } from '../src/peers/measure.js';
import type { HostRequest } from '../src/peers/messages.js';
import { descendantsOf } from '../src/peers/tree-memory.js';
import { COMPUTATIONS, longWork, shortWork } from '../src/peers/work.js';
import { measureBenchmark } from '../src/suite/measure.js';
import { isComplete, outcomesOf } from '../src/suite/outcomes.js';
import { tablesOf } from '../src/suite/report.js';
import { expectComparable } from './helpers/comparable.js';
import { silent } from './helpers/conditions.js';

let cache = '';
beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), 'coldframe-peers-'));
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

test('every peer has a unique name, an adapter, its isolation, and an exact version', () => {
  expect(new Set(peers.map(({ name }) => name)).size).toBe(peers.length);
  expect(peers.map(({ adapter }) => adapter).filter((name) => !(name in adapters))).toEqual([]);
  for (const { isolation, package: installed } of peers) {
    expect(isolation).not.toBe('');
    if (installed) expect(installed.version).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

const PACKAGE = { name: '@scope/name', version: '1.2.3' };

test('installs a package once, at its exact version, without its scripts', async () => {
  const calls: string[][] = [];
  const npm = async (args: readonly string[], folder: string) => {
    calls.push([...args]);
    mkdirSync(join(folder, 'node_modules'));
  };
  const folder = await installPeer(PACKAGE, cache, npm);
  expect(existsSync(join(folder, 'node_modules'))).toBe(true);
  expect(await installPeer(PACKAGE, cache, npm)).toBe(folder);
  expect(calls).toHaveLength(1);
  expect(calls[0]).toEqual(expect.arrayContaining(['--ignore-scripts', '@scope/name@1.2.3']));
});

test('leaves nothing in the cache when an installation fails', async () => {
  const other = join(cache, 'other');
  const npm = () => Promise.reject(new Error('no network'));
  await expect(installPeer(PACKAGE, other, npm)).rejects.toThrow('no network');
  expect(readdirSync(other)).toEqual([]);
});

test('keeps packages outside of the checkout', () => {
  expect(peerCache({ XDG_CACHE_HOME: '/cache' })).toBe('/cache/coldframe/peers');
  expect(peerCache({})).toMatch(/\/\.cache\/coldframe\/peers$/);
});

test('the expected values are the values of the expressions', () => {
  const work = [shortWork(), ...COMPUTATIONS.flatMap((name) => [longWork(name, true), longWork(name, false)])];
  for (const { expression, expected } of work) expect(String(runInNewContext(expression))).toBe(expected);
  expect(shortWork().expression).not.toBe(shortWork().expression);
});

test('finds all descendants of a process, and no other process', () => {
  // Each process after the first has an earlier process as its parent.
  const parents = fc.array(fc.nat(), { maxLength: 30 }).map((numbers) => numbers.map((number, index) => number % (index + 1)));
  fc.assert(
    fc.property(parents, (earlier) => {
      const parentOf = new Map(earlier.map((parent, index) => [index + 2, parent + 1]));
      const stats = [...parentOf].map(([pid, parent]) => `${pid} (a ) (b) S ${parent} 1 1`);
      const isBelow = (pid: number, root: number): boolean =>
        pid === root || (parentOf.has(pid) && isBelow(parentOf.get(pid) ?? 0, root));
      for (const root of [1, 2, 3]) {
        const expected = [...new Set([root, ...[...parentOf.keys()].filter((pid) => isBelow(pid, root))])];
        expect(descendantsOf(root, stats).sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
      }
    }),
  );
});

const SHAPE: PeerShape = { rounds: 2, coldPerRound: 3, warmPerRound: 5, live: 4, isQuick: true, budgetMs: 60_000 };

const peerNamed = (name: string): Peer => ({ name, adapter: 'vm', isolation: 'none', keepsState: true });

/** A host whose memory grows by 100 KiB for each live instance. */
function fakeHost(log: string[] = [], failures: string[] = []) {
  let live = 0;
  const host: PeerHost = {
    pid: 1,
    work: async (kind: HostRequest['kind'], work = []) => {
      log.push(kind);
      if (kind === 'start') live = work.length;
      if (kind === 'end') live = 0;
      return { samples: work.slice(failures.length).map(() => 2), failures };
    },
    close: async () => {},
  };
  const read = () => ({ pssKib: 1_000 + 100 * live, rssKib: 2_000 + 300 * live, processes: 1 });
  return { host, read };
}

test('counts cold starts, warm values, computations, and the memory of an instance', async () => {
  const { host, read } = fakeHost();
  const [result] = await measurePeers([{ peer: peerNamed('a'), host }], SHAPE, undefined, read);
  expect(result).toMatchObject({
    cold: { count: 6, p50: 2 },
    warm: { count: 10, p50: 2 },
    computations: { calls: { count: 2 }, objects: { count: 2 } },
    memory: { pssKib: 100, rssKib: 300, live: 4 },
    runs: { total: 6 + 10 + 4 + 8, right: 28 },
  });
});

test('interleaves the peers, and reads the memory of one peer after the other', async () => {
  const log: string[] = [];
  const open = ['a', 'b'].map((name): OpenPeer => {
    const own: string[] = [];
    const { host } = fakeHost(own);
    const work: PeerHost['work'] = async (kind, each) => {
      log.push(`${name} ${kind}`);
      return host.work(kind, each);
    };
    return { peer: peerNamed(name), host: { ...host, work } };
  });
  await measurePeers(open, SHAPE, undefined, fakeHost().read);
  const order = (kind: string) => log.filter((line) => line.endsWith(` ${kind}`)).map((line) => line[0]);
  expect(order('cold').join('')).toBe('abba');
  expect(order('start').join('')).toBe('aabb');
});

test('a peer with a wrong value has no figures', async () => {
  const { host, read } = fakeHost([], ['the value was 1 instead of 2']);
  const [result] = await measurePeers([{ peer: peerNamed('a'), host }], SHAPE, undefined, read);
  expect(result).toMatchObject({ cold: null, warm: null, memory: null, computations: { calls: null, objects: null } });
  expect(result?.runs.right).toBeLessThan(result?.runs.total ?? 0);
});

test('a process that ends gets no further work, and its peer has no figures', async () => {
  let requests = 0;
  const { host, read } = fakeHost();
  const work: PeerHost['work'] = () => {
    requests++;
    return Promise.reject(new Error('the process ended'));
  };
  const [result] = await measurePeers([{ peer: peerNamed('a'), host: { ...host, work } }], SHAPE, undefined, read);
  expect(requests).toBe(1);
  expect(result).toMatchObject({ cold: null, memory: null, runs: { total: 1, failures: { 'the process ended': 1 } } });
});

const OPTIONS = { only: '', cache: '', rounds: 2, live: 2, budgetSeconds: 60, quick: true };
const measure = (open: PeerSetup['open']) => measureBenchmark(peersBenchmark, OPTIONS, { open, options: OPTIONS }, silent);

test('a peer that is not installed is a row with the reason and without figures', async () => {
  const { host } = fakeHost();
  const here: OpenPeer = { peer: peerNamed('node:vm'), host: { ...host, pid: process.pid } };
  const absent: OpenPeer = { peer: peerNamed('absent'), problem: 'not installed: no network' };
  const run = await measure([here, absent]);
  expect(run.peers?.results[1]).toMatchObject({ error: 'not installed: no network', cold: null, memory: null });
  expect(isComplete(outcomesOf(peersBenchmark, run), run.skipped)).toBe(true);
  const tables = tablesOf(peersBenchmark, { ...run, targets: [] });
  expect(tables.find(({ title }) => title === 'Peers without figures')?.rows).toEqual([['absent', 'not installed: no network']]);
  expect(expectComparable({ ...run, schema: peersBenchmark.schema })).toEqual([
    'node:vm, cold',
    'node:vm, warm',
    'node:vm, calls',
    'node:vm, objects',
  ]);
  const drawings = peersBenchmark.sections.flatMap((section) => section.charts?.(run) ?? []).map(({ drawing }) => drawing);
  expect(drawings).toHaveLength(4);
  expect(drawings.join('')).not.toMatch(/NaN|undefined|absent/);
});

test('a peer with a wrong value makes the benchmark incomplete', async () => {
  const { host } = fakeHost([], ['wrong']);
  const run = await measure([{ peer: peerNamed('a'), host: { ...host, pid: process.pid } }]);
  expect(isComplete(outcomesOf(peersBenchmark, run), run.skipped)).toBe(false);
});
