// Measures idle connections out of one runtime: the memory of the sidecar and of the edge process,
// and the time of the last connections. Afterwards every connection transfers a byte.

import { readdirSync, readFileSync } from 'node:fs';
import { NodeRuntime, Sidecar } from 'coldframe';
import { towardsPeer } from './peer.js';
import { idleConnections } from './programs.js';
import type { NetworkSetup } from './row.js';

export const IDLE_CONNECTIONS = 10_000;

/** The result of the section. */
export interface IdleResult {
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

/** Opens the connections, and measures the memory before and after. */
export async function measureIdle({ ports }: NetworkSetup): Promise<IdleResult> {
  const sidecar = await Sidecar.spawn();
  const network = towardsPeer(ports);
  const runtime = await NodeRuntime.create({
    sidecar,
    limits: { sockets: 2 * IDLE_CONNECTIONS, descriptors: 2 * IDLE_CONNECTIONS, memoryBytes: 1 << 30 },
    network: { ...network, limits: { ...network.limits, connections: 16_384, connecting: 4_096 } },
  });
  const lines: string[] = [];
  let errors = '';
  let notify = (): void => {};
  const program = await runtime.spawn(idleConnections(ports, IDLE_CONNECTIONS), {
    onStdout: (bytes) => {
      lines.push(...Buffer.from(bytes).toString().trim().split('\n'));
      notify();
    },
    onStderr: (bytes) => {
      errors += Buffer.from(bytes).toString().slice(0, 300);
    },
  });
  const ended = program.wait().then((code) => Promise.reject(new Error(`the program ended with ${code}: ${errors}`)));
  ended.catch(() => {});
  const line = async (count: number): Promise<string> => {
    while (lines.length < count) {
      const more = new Promise<void>((resolve) => {
        notify = resolve;
      });
      await Promise.race([more, ended]);
    }
    return lines[count - 1] ?? '';
  };
  try {
    // The first connection starts the edge process.
    await line(1);
    const pids = [sidecar.pid, edgeOf(sidecar.pid)];
    const before = pids.map(anonymousKib);
    await program.writeStdin('open\n');
    const [first = 0, last = 0] = JSON.parse(await line(2)) as number[];
    const [sidecarKib = 0, edgeKib = 0] = pids.map((pid, at) => (anonymousKib(pid) - (before[at] ?? 0)) / IDLE_CONNECTIONS);
    await program.writeStdin('echo\n');
    const replied = Number(await line(3));
    return { connections: IDLE_CONNECTIONS, replied, sidecarKib, edgeKib, lastToFirst: last / first };
  } finally {
    await runtime.dispose();
    await sidecar.dispose();
  }
}
