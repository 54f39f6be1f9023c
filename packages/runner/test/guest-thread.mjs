// A booted guest in a thread of its own, restored to its image before each run. The guest's own
// stack limit must be reached before Node's limit, and only a thread can have a large stack.
import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { DevGuest, evalEvent, startEvent } from '../build/dev-host.mjs';
import { EVAL_URL, WORKSPACE } from '../build/fixtures.mjs';

const HOST_STACK_MIB = 200;
const SERVE = 'serve a guest';

export class GuestThread {
  #worker;

  static async start() {
    const thread = new GuestThread();
    thread.#worker = new Worker(new URL(import.meta.url), { workerData: SERVE, resourceLimits: { stackSizeMb: HOST_STACK_MIB } });
    await once(thread.#worker, 'message');
    return thread;
  }

  /** @returns {Promise<{ exitCode: number, value?: string, stdout: Buffer, stderr: Buffer }>} */
  async run(mode, { source, args = [], env = {}, stdin = '', cwd = WORKSPACE, pid = 2 }) {
    const [result] = await this.#runAll({ mode, sources: [source], args, env, stdin, cwd, pid });
    return result;
  }

  /**
   * Evaluates snippets in order in one resident runner. Stops after a snippet that ends the
   * process.
   */
  async evaluate(sources, { env = {}, stdin = '', cwd = WORKSPACE, pid = 2 } = {}) {
    return this.#runAll({ mode: 'resident', sources, args: [], env, stdin, cwd, pid });
  }

  async #runAll(request) {
    this.#worker.postMessage(request);
    const [{ results, failure }] = await once(this.#worker, 'message');
    if (failure) throw new Error(failure);
    return results.map((result) => ({ ...result, stdout: Buffer.from(result.stdout), stderr: Buffer.from(result.stderr) }));
  }

  stop() {
    return this.#worker.terminate();
  }
}

function serve() {
  let output = { 1: [], 2: [] };
  let stdin = Buffer.alloc(0);
  const write = (fd, bytes) => {
    output[fd].push(Buffer.from(bytes));
    return bytes.length;
  };
  const read = (_fd, bytes) => {
    const count = Math.min(bytes.length, stdin.length);
    bytes.set(stdin.subarray(0, count));
    stdin = stdin.subarray(count);
    return count;
  };
  const guest = new DevGuest({ write, read }).boot();
  const image = guest.snapshot();
  parentPort.on('message', async (request) => {
    guest.restore(image);
    output = { 1: [], 2: [] };
    stdin = Buffer.from(request.stdin);
    const takeOutput = () => {
      const taken = { stdout: Buffer.concat(output[1]), stderr: Buffer.concat(output[2]) };
      output = { 1: [], 2: [] };
      return taken;
    };
    try {
      parentPort.postMessage({ results: await runSources(guest, request, takeOutput) });
    } catch (error) {
      parentPort.postMessage({ failure: `${error.stack}\n${takeOutput().stderr}` });
    }
  });
  parentPort.postMessage('ready');
}

async function runSources(guest, { mode, sources, args, env, cwd, pid }, takeOutput) {
  const start = (source) => startEvent({ mode, source, url: EVAL_URL, cwd, argv: ['node', ...args], env, pid });
  if (mode !== 'resident') {
    const { exitCode, value } = await guest.run(start(sources[0]));
    return [{ exitCode, value, ...takeOutput() }];
  }
  await guest.run(start(''));
  const results = [];
  for (const source of sources) {
    const { status, exitCode, evalExitCode } = await guest.run(evalEvent(results.length + 1, source));
    results.push({ exitCode: status === 1 ? exitCode : evalExitCode, ended: status === 1, ...takeOutput() });
    if (status === 1) break;
  }
  return results;
}

if (workerData === SERVE) serve();
