// Options of `runtime.openTerminal()`.

import { COMMAND, COMMAND_ARGUMENTS, type CommandOptions, type OutputHandler, PROGRAM } from './programs.js';
import { CALLBACK, PROGRAM_TEXT, whole } from './rule.js';
import { known, type OptionTable } from './table.js';

/** The largest number of lines, and of characters in a line. */
const MAX_SIDE = 65_535;

/** Options of `runtime.openTerminal()`. */
export interface OpenTerminalOptions extends Pick<CommandOptions, 'env' | 'cwd' | 'limits' | 'user' | 'timeout' | 'signal'> {
  /** The command that runs on the terminal. @default 'sh', an interactive login shell */
  command?: string | undefined;
  /** The arguments of the command. @default `['-il']` for the default command, else `[]` */
  args?: readonly string[] | undefined;
  /** The number of characters in a line. @default 80 */
  cols?: number | undefined;
  /** The number of lines. @default 24 */
  rows?: number | undefined;
  /**
   * The variable `TERM` of the command, the kind of the terminal that shows the output.
   * @default 'xterm-256color'
   */
  term?: string | undefined;
  /**
   * Receives the output of the terminal. If the handler returns a promise, the next chunk waits for
   * the promise. Writes to the terminal block once 256 KiB wait. An error that the handler throws
   * ends the program.
   */
  onData?: OutputHandler | undefined;
}

/** The number of lines, or of characters in a line. */
export const TERMINAL_SIDE = whole(1, MAX_SIDE);

/** The option table of a terminal. */
export const TERMINAL: OptionTable<OpenTerminalOptions> = {
  env: COMMAND.env,
  cwd: COMMAND.cwd,
  limits: COMMAND.limits,
  user: COMMAND.user,
  timeout: COMMAND.timeout,
  signal: COMMAND.signal,
  command: known(PROGRAM, ['cmd', 'shell', 'file']),
  args: known(COMMAND_ARGUMENTS, ['argv', 'arguments']),
  cols: known(TERMINAL_SIDE, ['columns', 'width']),
  rows: known(TERMINAL_SIDE, ['lines', 'height']),
  term: known(PROGRAM_TEXT, ['name', 'terminal']),
  onData: known(CALLBACK, ['onOutput', 'onStdout'], ', a function'),
};
