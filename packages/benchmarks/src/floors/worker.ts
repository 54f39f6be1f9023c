// Floor of a worker thread: `new Worker` to its first message. It is no sandbox; it is the cheapest second Node there is.

import { Worker } from 'node:worker_threads';
import { now } from '../stats/timer.js';
import type { FloorDefinition } from './floor.js';

const SOURCE = "const { parentPort, workerData } = require('node:worker_threads'); parentPort.postMessage(workerData * 2);";

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
  const worker = new Worker(SOURCE, { eval: true, workerData: number });
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
