// The frame of every command: help, one-line errors for what the caller did wrong, an exit code.

import { isUsageError } from '../config/usage-error.js';

export async function runCommand(help: string, work: () => Promise<number | 'help'> | number | 'help'): Promise<void> {
  // A reader such as `head` may go before the end: there is nobody left to write to, and nothing is wrong.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  try {
    const code = await work();
    if (code === 'help') process.stdout.write(`${help}\n`);
    else process.exitCode = code;
  } catch (error) {
    const text = isUsageError(error) ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 2;
  }
}
