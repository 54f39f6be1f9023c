// The same work with the SDK's own calls, in the process of the benchmark: the floor of a request.

import { NodeRuntime, type Sidecar } from 'coldframe';

/** The limits of the server's sandboxes (packages/server/src/sandboxes/base.ts). */
const LIMITS = { memoryBytes: 512 << 20, filesystemBytes: 1 << 30, inodes: 262_144, processes: 1_024, descriptors: 1_024 };
const HOME = '/home/user';

/** Makes a runtime like the server's template `base`. */
export const makeBase = (sidecar: Sidecar): Promise<NodeRuntime> =>
  NodeRuntime.create({ sidecar, env: { HOME, USER: 'user' }, cwd: HOME, limits: LIMITS });

/** Runs a command, and returns its stdout. */
export async function runOwn(runtime: NodeRuntime, command: string): Promise<string> {
  const { stdout, exitCode } = await runtime.execCommand('/bin/bash', ['-l', '-c', command]);
  if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
  return stdout;
}
