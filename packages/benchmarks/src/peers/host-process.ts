// The process that contains one adapter. Messages of the benchmark name the work, and the replies
// have the times. Times are measured in this process, from the call to the value.
//
//   node host-process.js ADAPTER INSTALLED SCRATCH

import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';
import type { Adapter, Instance } from './adapter.js';
import { adapters } from './adapters/index.js';
import type { HostReply, HostRequest, Times } from './messages.js';
import type { Work } from './work.js';

const [name = '', installed = '', scratch = ''] = process.argv.slice(2);

let adapter: Adapter | undefined;
let warm: Instance | undefined;
const live: Instance[] = [];

async function opened(): Promise<Adapter> {
  const open = adapters[name];
  if (!open) throw new Error(`no adapter ${name}`);
  adapter ??= await open({ installed, scratch });
  return adapter;
}

async function evaluateRight(instance: Instance, { expression, expected }: Work): Promise<void> {
  const value = await instance.evaluate(expression);
  if (value !== expected) throw new Error(`the value was ${JSON.stringify(value)} instead of ${JSON.stringify(expected)}`);
}

/** Times each piece of work. A piece that fails has no time. */
async function timeEach(work: readonly Work[], time: (work: Work) => Promise<number>): Promise<Times> {
  const times: Times = { samples: [], failures: [] };
  for (const each of work) {
    try {
      times.samples.push(await time(each));
    } catch (error) {
      times.failures.push(reason(error));
    }
  }
  return times;
}

async function coldStart(work: Work): Promise<number> {
  const { start } = await opened();
  const from = now();
  const instance = await start();
  try {
    await evaluateRight(instance, work);
    return now() - from;
  } finally {
    await instance.dispose();
  }
}

async function warmCall(work: Work): Promise<number> {
  warm ??= await (await opened()).start();
  const instance = warm;
  const from = now();
  await evaluateRight(instance, work);
  return now() - from;
}

const collectGarbage = (): void => (globalThis as { gc?: () => void }).gc?.();

async function handle(request: HostRequest): Promise<Times> {
  switch (request.kind) {
    case 'cold':
      return timeEach(request.work, coldStart);
    case 'warm':
      return timeEach(request.work, warmCall);
    case 'start': {
      const { start } = await opened();
      const times = await timeEach(request.work, async (work) => {
        const from = now();
        const instance = await start();
        live.push(instance);
        await evaluateRight(instance, work);
        return now() - from;
      });
      collectGarbage();
      return times;
    }
    case 'again':
      return timeEach(request.work.slice(0, live.length), async (work) => {
        const instance = live[request.work.indexOf(work)];
        if (!instance) throw new Error('the instance is gone');
        const from = now();
        await evaluateRight(instance, work);
        return now() - from;
      });
    case 'end':
      await Promise.all([...live.splice(0), ...(warm ? [warm] : [])].map((instance) => instance.dispose()));
      warm = undefined;
      collectGarbage();
      return { samples: [], failures: [] };
    case 'close':
      await adapter?.close?.();
      return { samples: [], failures: [] };
  }
}

process.on('message', (request: HostRequest) => {
  const send = (reply: HostReply) => process.send?.(reply);
  handle(request).then(
    (times) => send({ id: request.id, times }),
    (error: unknown) => send({ id: request.id, error: reason(error) }),
  );
});
