// Peers that are processes: Node, Bun and Deno. A process reads expressions from stdin, one JSON
// text a line, and writes their values to stdout. Each runtime reads stdin in its own fastest way.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { environmentForNode } from '../../machine/pinned-node.js';
import { linesOf, nextLine } from '../../sandbox/lines.js';
import type { AdapterFiles, Instance, OpenAdapter } from '../adapter.js';
import { peers } from '../catalogue.js';

const READ_LINES = `
let rest = '';
const read = (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) write(JSON.stringify(String((0, eval)(JSON.parse(line)))) + '\\n');
};`;

const FOR_NODE = `
const write = (text) => process.stdout.write(text);
${READ_LINES}
process.stdin.setEncoding('utf8').on('data', read);`;

const forStream = (stream: string, write: string): string => `
const write = ${write};
${READ_LINES}
const decoder = new TextDecoder();
for await (const chunk of ${stream}) read(decoder.decode(chunk, { stream: true }));`;

async function startProcess(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Instance> {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  ended.catch(() => {}); // an error of the start ends the lines
  child.stdin.on('error', () => {}); // the lines report the end of the process
  const lines = linesOf(child.stdout);
  return {
    evaluate: async (expression) => {
      child.stdin.write(`${JSON.stringify(expression)}\n`);
      return JSON.parse(await nextLine(lines)) as string;
    },
    dispose: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Returns the program of a peer's installed package. */
export function programOf(adapter: string, { installed }: AdapterFiles): string {
  const peer = peers.find((each) => each.adapter === adapter);
  if (!peer?.package?.program) throw new Error(`${adapter} has no program`);
  return join(installed, 'node_modules', peer.package.name, peer.package.program);
}

function writeProgram(scratch: string, text: string): string {
  const file = join(scratch, 'evaluator.mjs');
  writeFileSync(file, text);
  return file;
}

export const openNode: OpenAdapter = async ({ scratch }) => {
  const file = writeProgram(scratch, FOR_NODE);
  return { start: () => startProcess(process.execPath, [file], environmentForNode()) };
};

export const openBun: OpenAdapter = async (files) => {
  const file = writeProgram(files.scratch, forStream('Bun.stdin.stream()', '(text) => process.stdout.write(text)'));
  const program = programOf('bun', files);
  return { start: () => startProcess(program, [file], process.env) };
};

export const openDeno: OpenAdapter = async (files) => {
  const write = '(text) => Deno.stdout.writeSync(new TextEncoder().encode(text))';
  const file = writeProgram(files.scratch, forStream('Deno.stdin.readable', write));
  const program = programOf('deno', files);
  const env = { ...process.env, DENO_DIR: join(files.scratch, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  return { start: () => startProcess(program, ['run', '--quiet', '--no-config', '--no-lock', '--no-prompt', file], env) };
};
