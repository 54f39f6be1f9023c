// What crosses the wall between a guest and the app: a binding called by a guest, and a guest's server asked by the app.
//
// A binding's way is what is left of a call when a ping of the sidecar is taken off, halved: one way there, one way back. The medians of both come
// from the same minute. A guest's server is asked over a connection that stays, as `fetch` on this machine's loopback is beside it.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import { inMicros, judge, type KernelResult } from './run.js';

const CALLS = 2_000;
const REQUESTS = 400;
const WARMUP = 100;
const EACH_WAY_US = 100;

export const OUTSIDE = ['a call of a binding, each way above a ping', 'a request to a guest, over a kept connection'] as const;

export async function measureOutside(sidecar: Sidecar): Promise<KernelResult[]> {
  const [binding, request] = OUTSIDE;
  return [
    await attempt(binding, () => measureBinding(sidecar, binding)),
    await attempt(request, () => measureRequests(sidecar, request)),
  ];
}

async function attempt(name: string, work: () => Promise<KernelResult>): Promise<KernelResult> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name, unit: 'µs', bound: null, sandbox: null, node: null, verdict: 'unmeasured', error: why };
  }
}

async function measureBinding(sidecar: Sidecar, name: string): Promise<KernelResult> {
  const runtime = await NodeRuntime.create({
    sidecar,
    bindings: { answer: { description: 'the sum', inputSchema: true, handler: ({ a, b }: { a: number; b: number }) => a + b } },
  });
  try {
    const pings = summarize(await timed(CALLS, () => sidecar.ping()));
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
    const sandbox = inMicros(value.samples.map((sample) => Math.max(0, sample - ping) / 2));
    return { name, unit: 'µs', bound: EACH_WAY_US, sandbox, node: null, verdict: judge(sandbox?.p50, EACH_WAY_US) };
  } finally {
    await runtime.dispose();
  }
}

async function measureRequests(sidecar: Sidecar, name: string): Promise<KernelResult> {
  const runtime = await NodeRuntime.create({ sidecar });
  const here = createServer((_request, response) => response.end('hello'));
  try {
    const guest = await runtime.spawn(
      "import { createServer } from 'node:http'; createServer((_request, response) => response.end('hello')).listen(3000);",
    );
    await runtime.waitForListener({ port: 3000 });
    await new Promise<void>((resolve) => here.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(here.address() as AddressInfo).port}/`;
    const check = (text: string) => {
      if (text !== 'hello') throw new Error(`the answer was ${JSON.stringify(text.slice(0, 60))}`);
    };
    const sandbox = await timed(REQUESTS, async () => check((await runtime.fetch(3000, '/')).body));
    const node = await timed(REQUESTS, async () => check(await (await fetch(url)).text()));
    await guest.kill();
    return {
      name,
      unit: 'µs',
      bound: null,
      sandbox: inMicros(sandbox),
      node: inMicros(node),
      verdict: null,
    };
  } finally {
    here.closeAllConnections();
    here.close();
    await runtime.dispose();
  }
}

/** Milliseconds of each call, one after the other, after a warm-up. */
async function timed(count: number, call: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < WARMUP; i++) await call();
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const from = now();
    await call();
    samples.push(now() - from);
  }
  return samples;
}
