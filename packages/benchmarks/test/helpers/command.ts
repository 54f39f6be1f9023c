// Runs a compiled command as a user does, and returns its output.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

export function runScript(
  path: string,
  args: string[],
  env: Record<string, string> = {},
  timeout = 100_000,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout, maxBuffer: 64 * 2 ** 20 };
    execFile(process.execPath, [fromRoot(path), ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

export const command = (name: string, args: string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  runScript('packages/benchmarks/dist/main.js', [name, ...args], env);
