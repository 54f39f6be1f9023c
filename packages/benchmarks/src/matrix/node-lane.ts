// The lanes of Node: the calls of Node's own API that are equivalent to the calls of a runtime.
//
// A program is a process of the pinned Node, or of the Node that runs the benchmark if the pinned
// Node is not installed. `perform()` uses one process for all calls of a lane, which is started
// before the clock runs. The files of the app are files of the benchmark's own process.

import { type ChildProcess, type ChildProcessByStdio, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { environmentForNode, pinnedOrOwnNode } from '../machine/pinned-node.js';
import { linesOf, nextLine } from '../sandbox/lines.js';
import type { ExecResult } from '../sandbox/snippet.js';
import { answer, type Lane, type LiveProgram, NEIGHBOUR, type Place, type Side } from './lane.js';

/** The file system in memory of the machine. */
const SHARED_MEMORY = '/dev/shm';
const MODULE = ['--input-type=module', '-e'];
const RETURN = 'globalThis.__return = (value) => process.stdout.write(JSON.stringify(value));\n';
const PERFORMER = fileURLToPath(new URL('./node-performer.js', import.meta.url));

export const nodeSide = (scratch: string): Side => ({
  openLane: async () => openNodeLane(scratch),
  startNeighbour: async () => {
    const program = spawnNode(NEIGHBOUR, scratch);
    await program.line();
    return { stop: program.stop };
  },
  close: async () => {},
});

function openNodeLane(scratch: string): Lane {
  const onDisk = mkdtempSync(join(scratch, 'node-'));
  const inMemory = isWritable(SHARED_MEMORY) ? mkdtempSync(join(SHARED_MEMORY, 'coldframe-matrix-')) : onDisk;
  const folders: Readonly<Record<Place, string>> = { memory: inMemory, mount: onDisk, app: inMemory };
  const run = (args: readonly string[]) => runProgram(pinnedOrOwnNode(), args, inMemory);
  let performer: Promise<Performer> | undefined;
  return {
    exec: (code) => run([...MODULE, code]),
    run: async (code) => JSON.parse((await run([...MODULE, RETURN + code])).stdout),
    execFile: (path, args) => run([path, ...args]),
    command: (name, args) => runProgram(name, args, inMemory),
    spawn: async (code) => spawnNode(code, inMemory),
    perform: async (body) => {
      performer ??= startPerformer(inMemory);
      return (await performer).perform(body);
    },
    fetch: async (port, path) => (await fetch(`http://127.0.0.1:${port}${path}`)).text(),
    connect: (port) => createConnection(port, '127.0.0.1'),
    writeFile: (path, data) => writeFile(path, data),
    readFile: (path) => readFile(path),
    size: async (path) => (await stat(path)).size,
    names: (path) => readdir(path),
    folder: (place) => folders[place],
    close: async () => {
      await (await performer)?.stop();
      for (const folder of [onDisk, inMemory]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const environmentIn = (folder: string): NodeJS.ProcessEnv => ({ ...environmentForNode(), TMPDIR: folder });

function runProgram(program: string, args: readonly string[], cwd: string): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, env: environmentIn(cwd) }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ stdout, exitCode: error ? Number(error.code) : 0, ...(error && { stderr }) });
    });
  });
}

function spawnNode(code: string, cwd: string): LiveProgram {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(pinnedOrOwnNode(), [...MODULE, code], {
    cwd,
    env: environmentIn(cwd),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  closed.catch(() => {}); // an error of the start rejects `result` or ends the lines
  const lines = linesOf(child.stdout);
  const line = () => nextLine(lines);
  return {
    get result() {
      return outputOf(child.stdout, closed);
    },
    line,
    request: (text) => {
      child.stdin.write(`${text}\n`);
      return line();
    },
    stop: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

async function outputOf(stdout: Readable, closed: Promise<[code: number | null]>): Promise<ExecResult> {
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [exitCode] = await closed;
  return { stdout: Buffer.concat(chunks).toString('utf8'), exitCode: exitCode ?? -1 };
}

interface Performer {
  perform(body: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** A message of `node-performer.ts`: a call of the app's function, or the end of a body. */
type PerformerMessage =
  | { call: number; input: { a: number; b: number } }
  | { done: number; value: unknown }
  | { done: number; error: string };

async function startPerformer(cwd: string): Promise<Performer> {
  const child: ChildProcess = fork(PERFORMER, { execPath: pinnedOrOwnNode(), execArgv: [], cwd, env: environmentIn(cwd) });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.on('error', failAll);
  child.on('exit', (code, signal) => failAll(new Error(`Node ended with ${signal ?? `exit code ${code}`}`)));
  child.on('message', (message: PerformerMessage) => {
    if ('call' in message) return void child.send({ reply: message.call, value: answer(message.input) });
    const waiter = waiting.get(message.done);
    waiting.delete(message.done);
    if ('error' in message) waiter?.reject(new Error(message.error));
    else waiter?.resolve(message.value);
  });
  return {
    perform: (body) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        child.send({ perform: last, body });
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
