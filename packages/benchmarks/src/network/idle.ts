// Measures idle connections out of runtimes: the memory of the sidecar and of the edge process, and
// the time of the last connections. Afterwards every connection transfers a byte.

import { readdirSync, readFileSync } from 'node:fs';
import { NodeRuntime, Sidecar } from 'coldframe';
import { towardsPeer } from './peer.js';
import { idleConnections } from './programs.js';
import type { NetworkSetup } from './row.js';

/** The connections of a row. */
const CONNECTIONS = 10_000;
/** The connections at the beginning and at the end whose times are compared. */
const COMPARED = 1_000;
/** The runtimes that are created at a time. */
const BATCH = 20;

/**
 * A row: 10,000 connections, divided among runtimes. A runtime has at most 4,096 sessions of TLS.
 */
export interface IdleRow {
  name: string;
  runtimes: number;
  isSecure: boolean;
}

/** The names of the rows, which the targets use. */
export const IDLE = {
  plain: 'idle connections of one runtime',
  many: 'idle connections of 1,000 runtimes',
  secure: 'idle connections of 4 runtimes over TLS',
};

export const idleRows: readonly IdleRow[] = [
  { name: IDLE.plain, runtimes: 1, isSecure: false },
  { name: IDLE.many, runtimes: 1_000, isSecure: false },
  { name: IDLE.secure, runtimes: 4, isSecure: true },
];

/** The result of a row. */
export interface IdleResult {
  name: string;
  connections: number;
  /** The connections that have transferred a byte after all were open. */
  replied: number;
  /** KiB of each connection in the sidecar, without the memory of the guest. */
  sidecarKib: number;
  /** KiB of each connection in the edge process. */
  edgeKib: number;
  /** The time of the last 1,000 connections, divided by the time of the first 1,000. */
  lastToFirst: number;
}

/**
 * Returns the KiB of anonymous memory of a process, without the memory of guests. The memory of a
 * guest is a mapping of the image and the anonymous mapping that follows.
 */
function anonymousKib(pid: number): number {
  let [sum, end, follows, isGuest] = [0, '', false, false];
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const mapping = /^([\da-f]+)-([\da-f]+) \S+ \S+ \S+ (\d+)\s*(.*)$/.exec(line);
    if (mapping) {
      const [, from = '', to = '', inode, path = ''] = mapping;
      const isImage = inode !== '0' && path.includes('.image');
      isGuest = isImage || (follows && from === end && inode === '0');
      [follows, end] = [isGuest, to];
    } else if (!isGuest && line.startsWith('Anonymous:')) {
      sum += Number(/\d+/.exec(line)?.[0]);
    }
  }
  return sum;
}

/** Returns the pid of the edge process below a sidecar. */
function edgeOf(sidecar: number): number {
  const parents = new Map<number, number>();
  const edges: number[] = [];
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      if (stat.includes('(coldframe-edge)')) edges.push(Number(name));
    } catch {
      // The process has ended.
    }
  }
  const isBelow = (pid: number): boolean => pid === sidecar || (pid > 1 && isBelow(parents.get(pid) ?? 0));
  const edge = edges.find(isBelow);
  if (edge === undefined) throw new Error('the sidecar has no edge process');
  return edge;
}

/** A program that replies to each line on stdin with a line. */
interface LineProgram {
  /** Sends a line. Returns the program's next line. */
  ask(line: string): Promise<string>;
}

/** Starts a program, and waits for its first line. */
async function start(runtime: NodeRuntime, code: string): Promise<LineProgram> {
  const lines: string[] = [];
  let [text, errors] = ['', ''];
  let notify = (): void => {};
  const program = await runtime.spawn(code, {
    onStdout: (bytes) => {
      const parts = (text + Buffer.from(bytes).toString()).split('\n');
      text = parts.pop() ?? '';
      lines.push(...parts);
      notify();
    },
    onStderr: (bytes) => {
      errors += Buffer.from(bytes).toString().slice(0, 300);
    },
  });
  const ended = program.wait().then((code) => Promise.reject(new Error(`the program ended with ${code}: ${errors}`)));
  ended.catch(() => {});
  const next = async (): Promise<string> => {
    while (lines.length === 0) {
      const more = new Promise<void>((resolve) => {
        notify = resolve;
      });
      await Promise.race([more, ended]);
    }
    return lines.shift() ?? '';
  };
  await next();
  return {
    ask: async (line) => {
      await program.writeStdin(`${line}\n`);
      return next();
    },
  };
}

const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);

/** Opens the connections of a row, and measures the memory before and after. */
export async function measureIdle({ name, runtimes: count, isSecure }: IdleRow, { ports }: NetworkSetup): Promise<IdleResult> {
  const sidecar = await Sidecar.spawn();
  const each = CONNECTIONS / count;
  const network = towardsPeer(ports);
  const limits = { ...network.limits, connections: Math.max(256, 1.6 * each) };
  const create = (): Promise<NodeRuntime> =>
    NodeRuntime.create({
      sidecar,
      limits: { sockets: 2 * each + 100, descriptors: 2 * each + 100, ...(each > 1_000 && { memoryBytes: 2 ** 31 }) },
      network: { ...network, limits },
    });
  const code = idleConnections(ports, each, isSecure);
  try {
    const programs: LineProgram[] = [];
    while (programs.length < count) {
      const batch = Array.from({ length: Math.min(BATCH, count - programs.length) }, async () => start(await create(), code));
      programs.push(...(await Promise.all(batch)));
    }
    // The first connection has started the edge process.
    const pids = [sidecar.pid, edgeOf(sidecar.pid)];
    const before = pids.map(anonymousKib);
    const times: number[] = [];
    for (const program of programs) times.push(...(JSON.parse(await program.ask('open')) as number[]));
    const [sidecarKib = 0, edgeKib = 0] = pids.map((pid, at) => (anonymousKib(pid) - (before[at] ?? 0)) / CONNECTIONS);
    const replied = sum((await Promise.all(programs.map((program) => program.ask('echo')))).map(Number));
    const lastToFirst = sum(times.slice(-COMPARED)) / sum(times.slice(0, COMPARED));
    return { name, connections: CONNECTIONS, replied, sidecarKib, edgeKib, lastToFirst };
  } finally {
    await sidecar.dispose();
  }
}
