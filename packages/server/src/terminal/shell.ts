// The program of a terminal. Without a command the program is an interactive shell.

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
  const terminal = await runtime.openTerminal({
    command: cmd,
    args,
    cols,
    rows,
    user: user.name,
    env: { ...environmentOf(user), ...env, LANG: 'C.UTF-8', ...envs },
    cwd: cwd === undefined || cwd === '' ? user.home : resolvePath(cwd, user),
    onData: onOutput,
  });
  return {
    pid: terminal.pid,
    pty: true,
    ended: terminal.wait(),
    write: async (bytes) => void (await terminal.write(bytes)),
    resize: (columns, lines) => terminal.resize(columns, lines),
    kill: () => terminal.dispose(),
  };
}
