// Runs the built command in a child process.

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The built command. */
export const COMMAND = fileURLToPath(new URL('../../../dist/command.js', import.meta.url));

/** The result of the command. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Running {
  child: ChildProcess;
  ended: Promise<Outcome>;
  /**
   * Resolves when stdout contains `text`, after the text of earlier calls. Rejects if the command
   * ends before.
   */
  until(text: string): Promise<void>;
}

/** Starts the command. */
export function start(args: readonly string[], { env = {}, cwd }: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Running {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, ...env }, cwd, stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  let seen = 0;
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      for (const check of waiting) check();
    });
  }
  child.stdin.on('error', () => {});
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const at = output.stdout.indexOf(text, seen);
        if (at === -1) return;
        seen = at + text.length;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      ended.then(() => reject(new Error(`ended before ${JSON.stringify(text)}: ${JSON.stringify(output)}`)));
    });
  return { child, ended, until };
}

/** Runs the command to its end with `input` as stdin. */
export function run(
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Outcome> {
  const { child, ended } = start(args, options);
  child.stdin?.end(options.input ?? '');
  return ended;
}
