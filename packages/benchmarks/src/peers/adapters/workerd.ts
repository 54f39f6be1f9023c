// workerd: a process for each instance, with a worker that evaluates the bodies of requests. The
// binding `unsafeEval` allows the evaluation, which workerd otherwise refuses.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { linesOf, nextLine } from '../../sandbox/lines.js';
import type { Instance, OpenAdapter } from '../adapter.js';
import { programOf } from './processes.js';

const WORKER = 'export default { async fetch(r, { unsafe }) { return new Response(String(unsafe.eval(await r.text()))); } };';

const CONFIGURATION = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .evaluator)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const evaluator :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = ${JSON.stringify(WORKER)})],
  compatibilityDate = "2026-08-04",
  bindings = [(name = "unsafe", unsafeEval = void)],
);
`;

export const openWorkerd: OpenAdapter = async (files) => {
  const program = programOf('workerd', files);
  const configuration = join(files.scratch, 'config.capnp');
  writeFileSync(configuration, CONFIGURATION);
  return { start: () => startWorkerd(program, configuration) };
};

async function startWorkerd(program: string, configuration: string): Promise<Instance> {
  const args = ['serve', configuration, '--experimental', '--control-fd=1'];
  const child: ChildProcessByStdio<null, Readable, null> = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  ended.catch(() => {}); // an error of the start ends the lines
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const dispose = async () => {
    agent.destroy();
    child.kill('SIGKILL');
    await ended;
  };
  try {
    const { port } = JSON.parse(await nextLine(linesOf(child.stdout))) as { port: number };
    return { evaluate: (expression) => post(agent, port, expression), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const post = (agent: Agent, port: number, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ agent, port, host: '127.0.0.1', method: 'POST', path: '/' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject).on('end', () => resolve(text));
    });
    outgoing.on('error', reject).end(body);
  });
