// The benchmark's side of a peer's process: sends work and receives times.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentForNode, pinnedOrOwnNode } from '../machine/pinned-node.js';
import { withDeadline } from '../suite/deadline.js';
import type { Peer } from './catalogue.js';
import type { HostReply, HostRequest, Times } from './messages.js';
import type { Work } from './work.js';

/** A peer whose process is running. */
export interface PeerHost {
  pid: number;
  work(kind: HostRequest['kind'], work?: readonly Work[]): Promise<Times>;
  close(): Promise<void>;
}

export type StartHost = (peer: Peer, installed: string, scratch: string) => Promise<PeerHost>;

const PROCESS = fileURLToPath(new URL('./host-process.js', import.meta.url));
const HANG_MS = 120_000;
/** The memory of a peer is read after its garbage has been collected. */
const OPTIONS = ['--expose-gc', '--no-warnings'];

export const startHost: StartHost = async ({ name, adapter, nodeOptions = [] }, installed, scratch) => {
  const child: ChildProcess = fork(PROCESS, [adapter, installed, scratch], {
    execPath: pinnedOrOwnNode(),
    execArgv: [...OPTIONS, ...nodeOptions],
    env: environmentForNode(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'spawn');
  const waiting = new Map<number, { resolve(times: Times): void; reject(error: Error): void }>();
  let end: Error | undefined;
  child.on('exit', (code, signal) => {
    end = new Error(`the process of ${name} ended with ${signal ?? `exit code ${code}`}`);
    for (const { reject } of waiting.values()) reject(end);
    waiting.clear();
  });
  child.on('message', (reply: HostReply) => {
    const waiter = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) waiter?.reject(new Error(reply.error));
    else waiter?.resolve(reply.times);
  });
  let last = 0;
  const send = (kind: HostRequest['kind'], work: readonly Work[]): Promise<Times> =>
    new Promise((resolve, reject) => {
      if (end) return reject(end);
      const id = ++last;
      waiting.set(id, { resolve, reject });
      child.send({ id, kind, work } satisfies HostRequest);
    });
  const request = (kind: HostRequest['kind'], work: readonly Work[] = []) =>
    withDeadline(`${kind} of ${name}`, HANG_MS, send(kind, work));
  return {
    pid: child.pid ?? 0,
    work: request,
    close: async () => {
      if (end) return;
      await request('end').catch(() => {});
      await request('close').catch(() => {});
      if (end) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};
