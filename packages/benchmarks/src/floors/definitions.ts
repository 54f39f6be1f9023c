// Defines all floors, in the order of their measurement: starting a process, a worker thread, and a
// message to a running sidecar. `floor.ts` measures the floors.

import { spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { Sidecar } from 'coldframe';
import { environmentForNode, pinnedNode } from '../machine/pinned-node.js';
import { now } from '../statistics/timer.js';
import type { FloorDefinition } from './floor.js';

/**
 * Defines the floor of a process, from `spawn()` to its exit. `path` is called when the floor is
 * opened, so that a missing program fails this floor alone.
 */
export const spawnFloor = (name: string, what: string, path: () => string, args: string[]): FloorDefinition => ({
  name,
  what,
  repeat: 1,
  open: async () => {
    const program = path();
    return { measure: () => spawnToExit(program, args) };
  },
});

function spawnToExit(program: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = environmentForNode();
    const startedAt = now();
    const child = spawn(program, args, { stdio: 'ignore', env });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const elapsed = now() - startedAt;
      if (code === 0) resolve(elapsed);
      else reject(new Error(`${program} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

const WORKER_SOURCE =
  "const { parentPort, workerData } = require('node:worker_threads'); parentPort.postMessage(workerData * 2);";

/**
 * The floor of a worker thread, which is the fastest way to start a second environment of Node. A
 * worker thread is no sandbox.
 */
export const workerFloor: FloorDefinition = {
  name: 'worker_threads',
  what: 'new Worker to its first message',
  repeat: 1,
  open: async () => {
    let number = 0;
    return { measure: () => startWorker(++number) };
  },
};

async function startWorker(number: number): Promise<number> {
  const startedAt = now();
  const worker = new Worker(WORKER_SOURCE, { eval: true, workerData: number });
  try {
    const answer = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    const elapsed = now() - startedAt;
    if (answer !== number * 2) throw new Error(`worker answered ${answer} instead of ${number * 2}`);
    return elapsed;
  } finally {
    await worker.terminate();
  }
}

/**
 * The floor of a round trip to a running sidecar over its socket, without a pause between two round
 * trips. Promise S5 compares the warm evaluation of a resident runner with this floor. The
 * sidecar's thread polls for some tens of microseconds before the thread blocks, so a ping after
 * idle time takes longer (see the README).
 */
const pingFloor: FloorDefinition = {
  name: 'socket_ping',
  what: 'sidecar.ping(), back to back',
  repeat: 25,
  open: async () => {
    const sidecar = await Sidecar.spawn();
    return {
      measure: async () => {
        const startedAt = now();
        await sidecar.ping();
        return now() - startedAt;
      },
      close: () => sidecar.dispose(),
    };
  },
};

export const allFloors: readonly FloorDefinition[] = [
  spawnFloor('bin_true', 'spawn /bin/true to its exit', () => '/bin/true', []),
  spawnFloor('node_e_pinned', 'spawn `node -e 1` of the pinned Node 24 to its exit', pinnedNode, ['-e', '1']),
  spawnFloor('node_e_host', 'spawn `node -e 1` of the Node that runs the benchmark to its exit', () => process.execPath, [
    '-e',
    '1',
  ]),
  workerFloor,
  pingFloor,
];
