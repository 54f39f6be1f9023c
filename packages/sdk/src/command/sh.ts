// `coldframe sh`: the guest's shell. With `-c` the shell runs one command. Without a terminal the
// shell runs the script on stdin. At a terminal the shell runs on a terminal of the runtime
// (terminal.ts). With `-i` and without a terminal, this module reads the commands.
//
// Then one shell process evaluates all commands in a
// loop: the working directory, variables and functions stay. After each command, the shell prints a
// mark with the exit code and the directory, which this module removes from the output.

import { randomUUID } from 'node:crypto';
import type { GuestProcess, NodeRuntime } from '../index.js';
import { LineReader } from './line-reader.js';
import { textOf, wrongOperands } from './parse.js';
import { loadSdk, runProgram } from './program.js';
import { runtimeOptions, timeoutOf } from './runtime-options.js';
import { isIncomplete } from './shell-input.js';
import { paintFor } from './styles.js';
import type { Arguments } from './subcommand.js';
import { attachTerminal } from './terminal.js';

const SEPARATOR = '\x1e';
const START = '/workspace';

export function execute(args: Arguments): Promise<number> {
  const timeout = timeoutOf(args);
  const command = textOf(args, 'command');
  const isTyped = args.flags.has('interactive') || process.stdin.isTTY === true;
  if (command === undefined && args.operands.length > 0) wrongOperands(args);
  if (command === undefined && isTyped && !args.flags.has('json')) {
    return process.stdin.isTTY && process.stdout.isTTY ? onTerminal(args) : interact(args);
  }
  const words = command === undefined ? [] : ['-c', command, 'sh', ...args.operands];
  return runProgram(args, (runtime, output) => runtime.spawnCommand('sh', words, { ...timeout, ...output }));
}

// Runs the guest's shell on a terminal of the runtime.
async function onTerminal(args: Arguments): Promise<number> {
  const options = runtimeOptions(args);
  const { NodeRuntime } = await loadSdk();
  const runtime = await NodeRuntime.create(options);
  try {
    return await attachTerminal(runtime, { cwd: options.cwd ?? START, ...timeoutOf(args) });
  } finally {
    await runtime.dispose();
  }
}

async function interact(args: Arguments): Promise<number> {
  const options = runtimeOptions(args);
  const { NodeRuntime } = await loadSdk();
  const runtime = await NodeRuntime.create(options);
  try {
    return await new Session(runtime, options.cwd ?? START).run();
  } finally {
    await runtime.dispose();
  }
}

/** A shell in the guest that evaluates the commands of a terminal. */
class Session {
  readonly #runtime: NodeRuntime;
  readonly #mark = `${SEPARATOR}${randomUUID()}:`;
  #folder: string;
  #shell: Promise<GuestProcess> | undefined;
  #held = '';
  #done: ((exitCode: number) => void) | undefined;
  #status = 0;

  constructor(runtime: NodeRuntime, folder: string) {
    this.#runtime = runtime;
    this.#folder = folder;
  }

  async run(): Promise<number> {
    const paint = paintFor(process.stdout);
    const reader = new LineReader('sh');
    reader.onInterrupt = () => this.#interrupt();
    try {
      for (;;) {
        const command = await reader.read(`${paint('green', `coldframe:${this.#folder}`)}$ `, isIncomplete);
        if (command === undefined) return this.#status;
        const exitCode = command.trim() === '' ? undefined : await this.#evaluate(command);
        if (exitCode !== undefined) return exitCode;
      }
    } finally {
      reader.close();
    }
  }

  // Evaluates a command. Returns the exit code of the shell if the command ended the shell.
  async #evaluate(command: string): Promise<number | undefined> {
    this.#shell ??= this.#start();
    const shell = await this.#shell;
    const status = new Promise<number>((resolve) => {
      this.#done = resolve;
    });
    // The loop has replaced `$?`.
    const text = this.#status === 0 ? command : `(exit ${this.#status})\n${command}`;
    await shell.writeStdin(`eval $'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'\n`);
    const ended = shell.result.then(({ exitCode }) => ({ exitCode }));
    const first = await Promise.race([status, ended]);
    if (typeof first === 'number') {
      this.#status = first;
      return undefined;
    }
    this.#shell = undefined;
    if (first.exitCode !== 137) return first.exitCode;
    this.#status = 130;
    console.error('The shell was ended. A new shell has the files, and none of the variables.');
    return undefined;
  }

  #start(): Promise<GuestProcess> {
    const mark = `printf '\\036%s:%s:%s\\036' ${this.#mark.slice(1, -1)} "$?" "$PWD"`;
    // Commands have an empty stdin, because the shell reads the next commands from its own stdin.
    const loop = `while IFS= read -r COLDFRAME_LINE; do eval "$COLDFRAME_LINE" < /dev/null; ${mark}; done`;
    return this.#runtime.spawnCommand('sh', ['-c', loop], {
      cwd: this.#folder,
      onStdout: (chunk) => this.#receive(Buffer.from(chunk).toString('latin1')),
      onStderr: (chunk) => void process.stderr.write(chunk),
    });
  }

  // Writes output, and removes the mark. The output is text of one byte for each character.
  #receive(text: string): void {
    const output = this.#held + text;
    const at = output.indexOf(this.#mark);
    const end = at === -1 ? -1 : output.indexOf(SEPARATOR, at + this.#mark.length);
    if (end !== -1) {
      process.stdout.write(output.slice(0, at), 'latin1');
      this.#held = output.slice(end + 1);
      const [code = '', ...folder] = output.slice(at + this.#mark.length, end).split(':');
      this.#folder = Buffer.from(folder.join(':'), 'latin1').toString('utf8');
      this.#done?.(Number(code));
      return;
    }
    // A mark may arrive in pieces.
    const start = output.lastIndexOf(SEPARATOR);
    const isPossible = start !== -1 && (at !== -1 || this.#mark.startsWith(output.slice(start)));
    const keep = at !== -1 ? at : isPossible ? start : output.length;
    process.stdout.write(output.slice(0, keep), 'latin1');
    this.#held = output.slice(keep);
  }

  // Ends the programs of the running command. If the command runs in the shell itself, ends the
  // shell.
  async #interrupt(): Promise<void> {
    const shell = await this.#shell;
    if (shell === undefined) return;
    const others = (await this.#runtime.processes()).filter(({ pid }) => pid !== shell.pid);
    if (others.length === 0) await shell.kill('SIGKILL');
    else await this.#runtime.execCommand('kill', ['-INT', ...others.map(({ pid }) => String(pid))]);
  }
}
