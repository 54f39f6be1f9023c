// Measures calls between a guest and the app. The guest calls a binding, and the app sends requests
// to an HTTP server in the guest.
//
// The time of a binding call, minus a ping of the sidecar, divided by two, is the time of each way.
// The pings are measured immediately before the calls. The requests use one connection that stays
// open. After the requests, `fetch` on this machine's loopback is measured as Node's side.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { runRounds } from '../suite/rounds.js';
import type { KernelRow } from './row.js';

const CALLS = 2_000;
const REQUESTS = 400;
const WARMUP = 100;

export const appRows: readonly KernelRow[] = [
  {
    name: 'a call of a binding, each way above a ping',
    unit: 'µs',
    target: { promise: 'K5', atMost: 100 },
    measure: measureBinding,
  },
  { name: 'a request to a guest, over a kept connection', unit: 'µs', measure: measureRequests },
];

async function measureBinding(sidecar: Sidecar): Promise<{ sandbox: number[] }> {
  const runtime = await NodeRuntime.create({
    sidecar,
    bindings: { answer: { description: 'the sum', inputSchema: true, handler: ({ a, b }: { a: number; b: number }) => a + b } },
  });
  try {
    const pings = summarize(await timeCalls(CALLS, () => sidecar.ping()));
    const { value, exitCode, stderr } = await runtime.run<{ samples: number[]; sum: number }>(`
const samples = [];
let sum = 0;
for (let i = 0; i < ${WARMUP + CALLS}; i++) {
  const from = performance.now();
  sum += await callBinding('answer', { a: i, b: 1 });
  samples.push(performance.now() - from);
}
__return({ samples: samples.slice(${WARMUP}), sum });`);
    const total = WARMUP + CALLS;
    if (exitCode !== 0 || value?.sum !== (total * (total + 1)) / 2)
      throw new Error(`exit code ${exitCode}: ${stderr.slice(0, 200)}`);
    const ping = pings?.p50 ?? Number.NaN;
    return { sandbox: value.samples.map((sample) => Math.max(0, sample - ping) / 2) };
  } finally {
    await runtime.dispose();
  }
}

async function measureRequests(sidecar: Sidecar): Promise<{ sandbox: number[]; node: number[] }> {
  const runtime = await NodeRuntime.create({ sidecar });
  const server = createServer((_request, response) => response.end('hello'));
  try {
    const guest = await runtime.spawn(
      "import { createServer } from 'node:http'; createServer((_request, response) => response.end('hello')).listen(3000);",
    );
    await runtime.waitForListener({ port: 3000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const check = (text: string) => {
      if (text !== 'hello') throw new Error(`the answer was ${JSON.stringify(text.slice(0, 60))}`);
    };
    const sandbox = await timeCalls(REQUESTS, async () => check((await runtime.fetch(3000, '/')).body));
    const node = await timeCalls(REQUESTS, async () => check(await (await fetch(url)).text()));
    await guest.kill();
    return { sandbox, node };
  } finally {
    server.closeAllConnections();
    server.close();
    await runtime.dispose();
  }
}

/** Returns the milliseconds of each call, one after the other, after a warm-up. */
async function timeCalls(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  await runRounds({ warmup: WARMUP, rounds: count }, async (isWarmup) => {
    const from = now();
    await call();
    if (!isWarmup) samples.push(now() - from);
  });
  return samples;
}
