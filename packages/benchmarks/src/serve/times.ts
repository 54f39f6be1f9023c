// Times of single calls over HTTP, beside the same work with the SDK's own calls.

import type { NodeRuntime } from 'coldframe';
import { now } from '../statistics/timer.js';
import { makeBase, runOwn } from './own.js';
import type { Remote } from './place.js';
import type { ServeSetup, TimeRow } from './row.js';

const WARM_UP = 10;
const PORT = 3_000;
const SERVER = `import http from 'node:http'; http.createServer((_, response) => response.end('hello')).listen(${PORT});`;
const KERNEL_PORT = '49999';

/** Measures two calls in turns. The first rounds are dropped. */
async function inTurns(rounds: number, server: () => Promise<number>, floor: () => Promise<number>) {
  const samples: { server: number[]; floor: number[] } = { server: [], floor: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    const [theirs, ours] = [await server(), await floor()];
    if (round < 0) continue;
    samples.server.push(theirs);
    samples.floor.push(ours);
  }
  return samples;
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const from = now();
  await call();
  return now() - from;
}

const check = (text: string, expected: string): void => {
  if (text !== expected) throw new Error(`expected ${JSON.stringify(expected)}, received ${JSON.stringify(text)}`);
};

async function createAndRun({ place, base, samples }: ServeSetup) {
  const server = async (): Promise<number> => {
    const from = now();
    const remote = await place.create();
    check(await place.run(remote, 'echo 1'), '1\n');
    const time = now() - from;
    await place.kill(remote);
    return time;
  };
  const floor = async (): Promise<number> => {
    const from = now();
    const runtime = await base.clone();
    check(await runOwn(runtime, 'echo 1'), '1\n');
    const time = now() - from;
    await runtime.dispose();
    return time;
  };
  return inTurns(samples, server, floor);
}

async function withBoth<T>(
  { place, sidecar }: ServeSetup,
  work: (remote: Remote, runtime: NodeRuntime) => Promise<T>,
): Promise<T> {
  const [remote, runtime] = await Promise.all([place.create(), makeBase(sidecar)]);
  try {
    return await work(remote, runtime);
  } finally {
    await Promise.all([place.kill(remote), runtime.dispose()]);
  }
}

async function pauses(setup: ServeSetup, which: 'pause' | 'resume') {
  const { place, samples } = setup;
  return withBoth(setup, async (remote, runtime) => {
    await Promise.all([place.run(remote, 'echo kept > state'), runOwn(runtime, 'echo kept > state')]);
    const server = async (): Promise<number> => {
      const pause = await timed(() => place.call('POST', `/sandboxes/${remote.id}/pause`, {}));
      const resume = await timed(() => place.call('POST', `/v2/sandboxes/${remote.id}/connect`, { timeout: 3_600 }));
      return which === 'pause' ? pause : resume;
    };
    const floor = async (): Promise<number> => {
      const pause = await timed(() => runtime.pause());
      const resume = await timed(() => runtime.resume());
      return which === 'pause' ? pause : resume;
    };
    const measured = await inTurns(samples, server, floor);
    check(await place.run(remote, 'cat state'), 'kept\n');
    return measured;
  });
}

// Starts a server in both, which listens when the promise resolves.
async function startServers({ place }: ServeSetup, remote: Remote, runtime: NodeRuntime): Promise<void> {
  const file = Buffer.from(SERVER).toString('base64');
  await place.run(remote, `echo ${file} | base64 -d > server.mjs; setsid node server.mjs > /dev/null 2>&1 & sleep 0.5`);
  await runtime.spawn(SERVER);
  await runtime.waitForListener({ port: PORT });
}

async function createFromTemplate(setup: ServeSetup) {
  const { place, samples } = setup;
  return withBoth(setup, async (remote, runtime) => {
    await startServers(setup, remote, runtime);
    const template = await place.snapshot(remote);
    const server = async (): Promise<number> => {
      const from = now();
      const copy = await place.create(template);
      const time = now() - from;
      check((await place.port(copy, String(PORT), '/')).text, 'hello');
      await place.kill(copy);
      return time;
    };
    const floor = async (): Promise<number> => {
      const from = now();
      const copy = await runtime.clone();
      const time = now() - from;
      check((await copy.fetch(PORT, '/')).body, 'hello');
      await copy.dispose();
      return time;
    };
    return inTurns(samples, server, floor);
  });
}

async function proxiedGet(setup: ServeSetup) {
  const { place, samples } = setup;
  return withBoth(setup, async (remote, runtime) => {
    await startServers(setup, remote, runtime);
    const server = () => timed(async () => check((await place.port(remote, String(PORT), '/')).text, 'hello'));
    const floor = () => timed(async () => check((await runtime.fetch(PORT, '/')).body, 'hello'));
    return inTurns(samples * 3, server, floor);
  });
}

async function runCode(setup: ServeSetup) {
  const { place, samples } = setup;
  return withBoth(setup, async (remote, runtime) => {
    const { text } = await place.port(remote, KERNEL_PORT, '/contexts', JSON.stringify({ language: 'javascript' }));
    const { id } = JSON.parse(text) as { id: string };
    const runner = await runtime.createResidentRunner();
    const body = JSON.stringify({ code: '1+1', context_id: id });
    const server = () =>
      timed(async () => {
        const { text: lines } = await place.port(remote, KERNEL_PORT, '/execute', body);
        if (!lines.includes('"text":"2"')) throw new Error(`the result is missing in ${lines}`);
      });
    const floor = () => timed(() => runner.exec('console.log(1+1)'));
    return inTurns(samples * 3, server, floor);
  });
}

/** The rows. */
export const timeRows: readonly TimeRow[] = [
  {
    name: 'GET /health',
    floor: 'an echo of Fastify',
    measure: ({ place, samples }) =>
      inTurns(
        samples * 3,
        () => timed(() => place.call('GET', '/health')),
        () => timed(() => place.floor()),
      ),
  },
  {
    name: 'create, until the first command has answered',
    floor: 'clone() and execCommand()',
    target: { promise: 'V1', atMost: 3, of: 'value' },
    measure: createAndRun,
  },
  {
    name: 'create from a template with a running server',
    floor: 'clone()',
    measure: createFromTemplate,
  },
  {
    name: 'a command in a running sandbox',
    floor: 'execCommand()',
    measure: (setup) =>
      withBoth(setup, (remote, runtime) =>
        inTurns(
          setup.samples,
          () => timed(async () => check(await setup.place.run(remote, 'echo 1'), '1\n')),
          () => timed(async () => check(await runOwn(runtime, 'echo 1'), '1\n')),
        ),
      ),
  },
  {
    name: "run_code('1+1') in a context",
    floor: 'exec() of a resident runner',
    target: { promise: 'V3', atMost: 1, of: 'value' },
    measure: runCode,
  },
  {
    name: 'pause',
    floor: 'pause()',
    target: { promise: 'V4', atMost: 15, of: 'value' },
    measure: (setup) => pauses(setup, 'pause'),
  },
  {
    name: 'resume',
    floor: 'resume()',
    target: { promise: 'V5', atMost: 3, of: 'value' },
    measure: (setup) => pauses(setup, 'resume'),
  },
  {
    name: 'a GET to a port of a sandbox',
    floor: 'runtime.fetch()',
    target: { promise: 'V6', atMost: 1.5, of: 'ratio' },
    measure: proxiedGet,
  },
];
