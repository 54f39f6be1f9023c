// What a task costs with a pool and without one (B18). The clock runs from before the pool is made until its last slot is ended, so that nothing is free that a pool does
// off the path of calls: making slots, rolling them back, ending them. Beside it the time that each caller has waited.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeCensus } from '../machine/census.js';
import { pinnedNode } from '../machine/pinned-node.js';
import { privateGrowthKib } from '../machine/process-memory.js';
import { now } from '../stats/timer.js';
import type { OpenPoolHost, PoolHost, PoolShape } from './host.js';
import { type Tallied, Tally } from './tally.js';
import { nextTask, problemOf, programOf } from './task.js';
import { until } from './until.js';

export type Way = 'pool' | 'pool, shared uses' | 'created' | 'from a snapshot' | 'node -e';

export interface AmortisedRow extends Tallied {
  way: Way;
  /** K; none without a pool. */
  uses: number | undefined;
  /** Tasks at a time. */
  width: number;
  /** Wall time of everything, divided by the tasks. */
  amortisedMs: number;
  hitRatio: number | undefined;
  created: number | undefined;
  recycled: number | undefined;
  /** Of the pool's slots when all lie ready. */
  slotRssKib: number | undefined;
  slotPrivateKib: number | undefined;
}

export interface AmortisedShape {
  way: Way;
  uses?: number;
  width: number;
  tasks: number;
  slots: number;
  tenants: number;
}

interface Run {
  run(program: string, tenant: string): Promise<string>;
  shared?: boolean;
  end?(): Promise<Partial<AmortisedRow>>;
}

export async function measureAmortised(open: OpenPoolHost, directory: string, shape: AmortisedShape): Promise<AmortisedRow> {
  const host = await open(directory);
  try {
    const slots = await slotCost(host, shape);
    const tally = new Tally();
    const setting = await prepare(host, directory, shape);
    const from = now();
    const { run, shared = false, end } = setting();
    await inLanes(shape, async (tenant) => {
      const task = nextTask(tenant);
      await tally.time(async () => problemOf(task, await run(programOf(task), tenant), shared));
    });
    const facts = await end?.();
    const amortisedMs = (now() - from) / shape.tasks;
    const { way, uses, width } = shape;
    const none = { hitRatio: undefined, created: undefined, recycled: undefined };
    return { way, uses, width, amortisedMs, ...none, ...slots, ...facts, ...tally.end() };
  } finally {
    await host.close();
  }
}

// `width` lanes, each with the tenants in turn.
async function inLanes({ width, tasks, tenants }: AmortisedShape, work: (tenant: string) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < tasks; index = next++) await work(`tenant-${index % tenants}`);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

// What is there before the clock runs; what it gives begins with it.
async function prepare(host: PoolHost, directory: string, shape: AmortisedShape): Promise<() => Run> {
  if (shape.way === 'created') return () => ({ run: (program) => host.once(program) });
  if (shape.way === 'node -e') return () => ({ run: (program) => nodeProcess(program, directory) });
  if (shape.way === 'from a snapshot') {
    const snapshot = await host.save('memory');
    return () => ({ run: (program) => host.once(program, snapshot) });
  }
  return () => {
    const pool = host.pool(poolShape(shape));
    return {
      run: pool.run,
      shared: shape.way === 'pool, shared uses',
      end: async () => {
        const { hits, misses, created, recycled } = pool.counts();
        await pool.dispose();
        return { hitRatio: hits / (hits + misses), created, recycled };
      },
    };
  };
}

function poolShape({ way, uses = 1, slots }: AmortisedShape): PoolShape {
  return { size: slots, min: Math.ceil(slots / 2), uses, recycle: way === 'pool' ? 'each-use' : 'last-use' };
}

async function slotCost(host: PoolHost, shape: AmortisedShape): Promise<Pick<AmortisedRow, 'slotRssKib' | 'slotPrivateKib'>> {
  if (shape.uses === undefined) return { slotRssKib: undefined, slotPrivateKib: undefined };
  const { slots } = shape;
  const before = takeCensus(host.pid);
  const pool = host.pool({ ...poolShape(shape), min: slots });
  await until('a full pool', () => pool.counts().idle === slots);
  const after = takeCensus(host.pid);
  await pool.dispose();
  return {
    slotRssKib: (after.rssKib - before.rssKib) / slots,
    slotPrivateKib: privateGrowthKib(before.memory, after.memory) / slots,
  };
}

// A folder of its own for each, as a slot has: what came before is not there.
async function nodeProcess(program: string, directory: string): Promise<string> {
  const folder = mkdtempSync(join(directory, 'task-'));
  try {
    return await output(pinnedNode(), ['--input-type=module', '-e', program.replaceAll('/workspace', folder)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function output(path: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'ignore'], env });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`node ended with exit code ${code}`))));
  });
}
