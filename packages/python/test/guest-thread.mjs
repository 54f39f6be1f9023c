// A booted Python guest in a thread of its own, restored to its image before each program. Only a
// thread can have a stack that is longer than the guest's own stack.
import { once } from 'node:events';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { evalEvent } from '../../runner/build/dev-host.mjs';
import { bootGuest, makeGuest, startPython, WORKSPACE } from '../build/dev-host.mjs';

const SERVE = 'serve a guest of Python';
const STACK_MIB = 200;

export class GuestThread {
  #worker;

  static async start() {
    const thread = new GuestThread();
    thread.#worker = new Worker(new URL(import.meta.url), {
      workerData: SERVE,
      resourceLimits: { stackSizeMb: STACK_MIB },
    });
    await once(thread.#worker, 'message');
    return thread;
  }

  /**
   * Runs a program in a new copy of the image. `snippets` are the evaluations of a resident runner.
   * @param {{ mode?: string, source?: string, argv?: string[], env?: Record<string, string>,
   *   snippets?: string[], stopAfter?: number }} program
   * @returns {Promise<{ exitCode: number, exitReason: number, value?: string, stdout: string,
   *   stderr: string, evaluations: object[] }>}
   */
  async run(program) {
    this.#worker.postMessage(program);
    const [{ result, failure }] = await once(this.#worker, 'message');
    if (failure) throw new Error(failure);
    return result;
  }

  stop() {
    return this.#worker.terminate();
  }
}

async function serve() {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-python-'));
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => openSync(join(folder, name), 'a+'));
  let deadline = Number.POSITIVE_INFINITY;
  const poll = () => performance.now() > deadline;
  const guest = bootGuest(await makeGuest({ stdin, stdout, stderr, workspace: folder, poll }));
  const image = guest.snapshot();
  const output = (name) => readFileSync(join(folder, name), 'utf8');

  parentPort.on('message', async ({ snippets = [], stopAfter, ...program }) => {
    try {
      guest.restore(image);
      guest.wasi.directory = WORKSPACE;
      ftruncateSync(stdout);
      ftruncateSync(stderr);
      deadline = stopAfter === undefined ? Number.POSITIVE_INFINITY : performance.now() + stopAfter;
      let state = await guest.run(startPython(program));
      const evaluations = [];
      for (const [index, snippet] of snippets.entries()) {
        if (state.status) break;
        state = await guest.run(evalEvent(index + 1, snippet));
        evaluations.push(state);
      }
      parentPort.postMessage({ result: { ...state, evaluations, stdout: output('stdout'), stderr: output('stderr') } });
    } catch (error) {
      parentPort.postMessage({ failure: error.stack });
    }
  });
  process.on('exit', () => {
    for (const stream of [stdin, stdout, stderr]) closeSync(stream);
    rmSync(folder, { recursive: true, force: true });
  });
  parentPort.postMessage('ready');
}

if (workerData === SERVE) await serve();
