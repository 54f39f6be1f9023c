// `pnpm test:random [COUNT] [FIRST_SEED]` runs random programs on the patched engine (frozen and
// booted), and on the unpatched engine. Every tenth program also runs in V8. The command uses all
// processors, prints a line of progress every ten seconds, and prints each difference with its
// program. The exit code is 1 if there is a difference.
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { buildReference } from '../../../build/reference.mjs';
import { makeComparison } from './compare.mjs';

const BLOCK = 100;
const V8_EVERY = 10;
const PROGRESS_MS = 10_000;
const MOST_SHOWN = 20;

const say = (text) => process.stderr.write(`[random] ${text}\n`);

async function compareAll(count, first) {
  await buildReference();
  const begin = performance.now();
  const differences = [];
  let done = 0;
  let next = first;
  const seconds = () => (performance.now() - begin) / 1000;
  const timer = setInterval(() => {
    const left = (seconds() / Math.max(done, 1)) * (count - done);
    say(`${done} of ${count} programs, ${differences.length} differences, ${Math.round(left)} s left`);
  }, PROGRESS_MS);
  const lane = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { random: true } });
      const give = () => {
        const from = next;
        const to = Math.min(from + BLOCK, first + count);
        if (from >= to) return worker.terminate().then(resolve);
        next = to;
        worker.postMessage({ from, to });
      };
      worker.on('error', reject).on('message', ({ finished, different }) => {
        done += finished;
        for (const difference of different) {
          differences.push(difference);
          if (differences.length <= MOST_SHOWN) say(JSON.stringify(difference, null, 2));
        }
        give();
      });
      give();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  clearInterval(timer);
  say(`${count} programs from seed ${first}: ${differences.length} differences, ${seconds().toFixed(0)} s`);
  return differences.length;
}

async function serve() {
  const compare = await makeComparison();
  parentPort.on('message', async ({ from, to }) => {
    const different = [];
    for (let seed = from; seed < to; seed++) {
      const difference = await compare(seed, seed % V8_EVERY === 0);
      if (difference) different.push(difference);
    }
    parentPort.postMessage({ finished: to - from, different });
  });
}

if (!isMainThread && workerData?.random) await serve();
else if (isMainThread)
  process.exitCode = (await compareAll(Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 1))) ? 1 : 0;
