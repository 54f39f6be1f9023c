// Measures the cost of a task with a pool and without a pool.
//
// The clock starts before the pool is created and stops when the pool is disposed. The amortised
// time therefore includes the work that a pool does in the background: creating, rolling back and
// ending slots. The time that each caller waited is measured too. Next: `task.ts` for the program.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { privateGrowthKib, readFootprint } from '../machine/footprint.js';
import { environmentForNode, pinnedNode } from '../machine/pinned-node.js';
import { now } from '../statistics/timer.js';
import { runConcurrently } from '../suite/concurrency.js';
import { type Tallied, Tally } from '../suite/failures.js';
import type { OpenPoolSidecar, PoolShape, PoolSidecar } from './sidecar.js';
import { nextTask, programOf, taskProblem } from './task.js';
import { until } from './until.js';

export interface TaskResult extends Tallied {
  way: Way;
  /** Uses of a slot (K). `undefined` without a pool. */
  uses: number | undefined;
  /** Tasks at a time. */
  width: number;
  /**
   * The wall time, from before the creation of the pool to the end of its last slot, divided by the
   * number of tasks.
   */
  amortisedMs: number;
  hitRatio: number | undefined;
  created: number | undefined;
  recycled: number | undefined;
  /** Memory of each slot of a full pool. */
  slotRssKib: number | undefined;
  slotPrivateKib: number | undefined;
}

export interface TaskShape {
  way: Way;
  uses?: number;
  width: number;
  tasks: number;
  slots: number;
  /** The number of tenants, whose tasks alternate. */
  tenants: number;
}

/** Runs the tasks of a row while the clock runs. */
interface TaskRunner {
  run(program: string, tenant: string): Promise<string>;
  /** Whether a program may find the file of an earlier task of its tenant. */
  shared?: boolean;
  end?(): Promise<Partial<TaskResult>>;
}

/** The way in which a task gets its runtime. */
interface TaskWay {
  /** Whether the tasks run in slots of a pool, so that the uses of a slot matter. */
  isPooled?: true;
  /** Whether a task takes tens of milliseconds. */
  isSlow?: true;
  /**
   * Prepares the way before the clock starts. The returned function is called after the clock has
   * started.
   */
  prepare(sidecar: PoolSidecar, shape: TaskShape, directory: string): Promise<() => TaskRunner>;
}

const declared = {
  /** Every slot is rolled back after each use. */
  pool: {
    isPooled: true,
    prepare: async (sidecar, shape) => () => runInPool(sidecar, shape),
  },
  /** A slot is rolled back after K uses. Before the rollback, each task finds earlier files. */
  'pool, shared uses': {
    isPooled: true,
    prepare: async (sidecar, shape) => () => ({ ...runInPool(sidecar, shape), shared: true }),
  },
  'from a snapshot': {
    prepare: async (sidecar) => {
      const snapshot = await sidecar.takeSnapshot('memory');
      return () => ({ run: (program) => sidecar.once(program, snapshot) });
    },
  },
  created: { prepare: async (sidecar) => () => ({ run: (program) => sidecar.once(program) }) },
  'node -e': {
    isSlow: true,
    prepare: async (_sidecar, _shape, directory) => () => ({ run: (program) => runInNode(program, directory) }),
  },
} satisfies Record<string, TaskWay>;

export type Way = keyof typeof declared;

const ways: Readonly<Record<Way, TaskWay>> = declared;
const WAYS = Object.keys(ways) as Way[];

export const POOLED_WAYS = WAYS.filter((way) => ways[way].isPooled);

export interface TaskCounts extends Pick<TaskShape, 'tasks' | 'slots' | 'tenants'> {
  /** Uses of a slot (K). */
  uses: readonly number[];
  /** Tasks of a slow way. */
  slowTasks: number;
}

/** Returns the shapes of the rows: one task at a time, and as many tasks as there are slots. */
export const taskShapes = ({ uses, slots, tenants, tasks, slowTasks }: TaskCounts): TaskShape[] =>
  [1, slots].flatMap((width) =>
    WAYS.flatMap((way) => {
      const shape = { way, width, tasks: ways[way].isSlow ? slowTasks : tasks, slots, tenants };
      return ways[way].isPooled ? uses.map((each) => ({ ...shape, uses: each })) : [shape];
    }),
  );

/** Guesses the milliseconds of a task. */
export const guessTaskMs = (way: Way): number => (ways[way].isSlow ? 60 : 1);

export async function measureTasks(open: OpenPoolSidecar, directory: string, shape: TaskShape): Promise<TaskResult> {
  const sidecar = await open(directory);
  try {
    const memory = await slotMemory(sidecar, shape);
    const tally = new Tally();
    const start = await ways[shape.way].prepare(sidecar, shape, directory);
    const from = now();
    const { run, shared = false, end } = start();
    await runConcurrently({ count: shape.tasks, width: shape.width }, async (index) => {
      const task = nextTask(`tenant-${index % shape.tenants}`);
      await tally.time(async () => taskProblem(task, await run(programOf(task), task.tenant), shared));
    });
    const facts = await end?.();
    const amortisedMs = (now() - from) / shape.tasks;
    const { way, uses, width } = shape;
    const none = { hitRatio: undefined, created: undefined, recycled: undefined };
    return { way, uses, width, amortisedMs, ...none, ...memory, ...facts, ...tally.end() };
  } finally {
    await sidecar.close();
  }
}

function runInPool(sidecar: PoolSidecar, shape: TaskShape): TaskRunner {
  const pool = sidecar.pool(poolShape(shape));
  return {
    run: pool.run,
    end: async () => {
      const { hits, misses, created, recycled } = pool.counts();
      await pool.dispose();
      return { hitRatio: hits / (hits + misses), created, recycled };
    },
  };
}

const poolShape = ({ way, uses = 1, slots }: TaskShape): PoolShape => ({
  size: slots,
  min: Math.ceil(slots / 2),
  uses,
  recycle: way === 'pool' ? 'each-use' : 'last-use',
});

async function slotMemory(sidecar: PoolSidecar, shape: TaskShape): Promise<Pick<TaskResult, 'slotRssKib' | 'slotPrivateKib'>> {
  if (shape.uses === undefined) return { slotRssKib: undefined, slotPrivateKib: undefined };
  const { slots } = shape;
  const before = readFootprint(sidecar.pid);
  const pool = sidecar.pool({ ...poolShape(shape), min: slots });
  await until('a full pool', () => pool.counts().idle === slots);
  const after = readFootprint(sidecar.pid);
  await pool.dispose();
  return {
    slotRssKib: (after.rssKib - before.rssKib) / slots,
    slotPrivateKib: privateGrowthKib(before.memory, after.memory) / slots,
  };
}

/**
 * Runs a program in a Node process with a new folder, as a fresh slot has no files of other tasks.
 */
async function runInNode(program: string, directory: string): Promise<string> {
  const folder = mkdtempSync(join(directory, 'task-'));
  try {
    return await outputOf(pinnedNode(), ['--input-type=module', '-e', program.replaceAll('/workspace', folder)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(path: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'ignore'], env: environmentForNode() });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`node ended with exit code ${code}`))));
  });
}
