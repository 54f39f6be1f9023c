// The program of a terminal. Without a command the program is an interactive `bash`.

import type { NodeRuntime } from 'coldframe';
import { resolvePath } from '../envd/paths.js';
import { environmentOf, type User } from '../envd/user.js';
import type { OpenMessage } from './messages.js';

/** The program of one terminal. */
export interface Shell {
  readonly pid: number;
  /** Whether the program has a pseudo terminal. */
  readonly pty: boolean;
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  /** Writes input. Resolves when the program can take more. */
  write(bytes: Uint8Array): Promise<void>;
  resize(cols: number, rows: number): Promise<void>;
  kill(): Promise<void>;
}

/** Receives output. A promise delays the next output. */
export type Output = (bytes: Uint8Array) => Promise<void> | undefined;

const BASH = ['/bin/bash', '-i', '-l'];

/** Starts the program of a terminal. */
export async function openShell(
  runtime: NodeRuntime,
  { command = BASH, cwd, cols, rows, envs }: OpenMessage,
  { user, env, onOutput }: { user: User; env: Record<string, string>; onOutput: Output },
): Promise<Shell> {
  const [cmd = '', ...args] = command;
  const size = { COLUMNS: String(cols), LINES: String(rows) };
  const options = {
    env: { ...environmentOf(user), ...env, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...size, ...envs },
    cwd: cwd === undefined || cwd === '' ? user.home : resolvePath(cwd, user),
    limits: { outputBytes: 0 },
    onStdout: onOutput,
    onStderr: onOutput,
  };
  const program = await runtime.spawnCommand(cmd, args, options);
  return {
    pid: program.pid,
    pty: false,
    ended: program.wait(),
    write: async (bytes) => void (await program.writeStdin(bytes)),
    resize: async () => {},
    kill: async () => void (await program.kill('SIGKILL')),
  };
}
