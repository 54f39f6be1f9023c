// Connects the terminal of the command to a terminal in a runtime. Keys are sent to the runtime,
// output is shown, and the sizes are equal.

import type { NodeRuntime, OpenTerminalOptions } from '../index.js';

type Place = Pick<OpenTerminalOptions, 'command' | 'args' | 'cwd' | 'timeout'>;

/** Runs a command on a terminal of `runtime` until its end. Returns the exit code. */
export async function attachTerminal(runtime: NodeRuntime, place: Place): Promise<number> {
  const { stdin, stdout } = process;
  const terminal = await runtime.openTerminal({ ...place, ...sizeOf(stdout), term: process.env['TERM'], onData });
  // A key or a new size after the end of the command has no receiver.
  const type = (keys: Buffer): void => void terminal.write(keys).catch(() => {});
  const resize = (): void => {
    const { cols, rows } = sizeOf(stdout);
    void terminal.resize(cols, rows).catch(() => {});
  };
  stdin.setRawMode(true);
  stdin.on('data', type);
  stdout.on('resize', resize);
  try {
    return await terminal.wait();
  } finally {
    stdout.off('resize', resize);
    stdin.off('data', type);
    stdin.setRawMode(false);
    stdin.pause();
  }
}

// Waits while the command's own terminal is slow.
function onData(data: Uint8Array): Promise<void> | undefined {
  if (process.stdout.write(data)) return undefined;
  return new Promise((resolve) => process.stdout.once('drain', resolve));
}

const sizeOf = ({ columns, rows }: NodeJS.WriteStream): { cols: number; rows: number } => ({
  cols: columns || 80,
  rows: rows || 24,
});
