// `coldframe repl`: evaluates snippets in a resident runner. The guest formats the values, because
// a value stays in the guest. SIGINT ends an evaluation, and the state of the session stays.

import { isColdframeError } from '../errors/error.js';
import { remedyFor } from '../errors/remedies.js';
import type { NodeRuntime, ResidentRunner, Snapshot } from '../index.js';
import { failureText } from './failure.js';
import { LineReader } from './line-reader.js';
import { wrongOperands } from './parse.js';
import { loadSdk } from './program.js';
import { moduleFor, needsMore, PREPARATION } from './repl-source.js';
import { runtimeOptions, timeoutOf } from './runtime-options.js';
import { hasColours } from './styles.js';
import type { Arguments } from './subcommand.js';

const HELP = `.clear     start again with an empty state; files stay
.exit      end the session, as does ctrl-D
.help      print this help
.rollback  return to the state of the last .snapshot
.snapshot  keep the present state: variables, files and timers
Ctrl-C ends the running evaluation. _ is the last value.`;

export async function execute(args: Arguments): Promise<number> {
  if (args.operands.length > 0) wrongOperands(args);
  const timeout = timeoutOf(args);
  const options = runtimeOptions(args);
  const { NodeRuntime } = await loadSdk();
  const runtime = await NodeRuntime.create(options);
  try {
    const isTyped = args.flags.has('interactive') || process.stdin.isTTY === true;
    return await new Repl(runtime, timeout, isTyped).run();
  } finally {
    await runtime.dispose();
  }
}

class Repl {
  readonly #runtime: NodeRuntime;
  readonly #timeout: { timeout?: number };
  readonly #prompt: string;
  readonly #colors = hasColours(process.stdout);
  #runner: ResidentRunner | undefined;
  #kept: Snapshot | undefined;
  #running: AbortController | undefined;

  constructor(runtime: NodeRuntime, timeout: { timeout?: number }, isTyped: boolean) {
    this.#runtime = runtime;
    this.#timeout = timeout;
    this.#prompt = isTyped ? '> ' : '';
  }

  async run(): Promise<number> {
    if (this.#prompt !== '') console.log('Coldframe: code runs in a sandbox. Type .help for the commands.');
    const reader = new LineReader('repl');
    reader.onInterrupt = () => this.#running?.abort();
    try {
      for (;;) {
        const text = await reader.read(this.#prompt, (typed) => !isCommand(typed) && needsMore(typed));
        if (text === undefined || text.trim() === '.exit') return 0;
        if (isCommand(text)) await this.#command(text.trim());
        else if (text.trim() !== '') await this.#evaluate(text);
      }
    } finally {
      reader.close();
    }
  }

  async #evaluate(text: string): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    try {
      const runner = await this.#ready();
      const { error } = await runner.exec(moduleFor(text, this.#colors), {
        ...this.#timeout,
        signal: controller.signal,
        onStdout: (chunk) => void process.stdout.write(chunk),
        onStderr: (chunk) => void process.stderr.write(chunk),
      });
      if (error !== undefined) console.error(failureText({ ...error, message: error.message, remedy: remedyFor(error.code) }));
    } catch (error) {
      if (controller.signal.aborted) console.error('The evaluation was ended.');
      else if (isColdframeError(error, 'ERR_RUNNER_EXITED')) this.#lose(error.exitCode);
      else throw error;
    } finally {
      this.#running = undefined;
    }
  }

  async #ready(): Promise<ResidentRunner> {
    if (this.#runner !== undefined) return this.#runner;
    const runner = await this.#runtime.createResidentRunner();
    await runner.exec(PREPARATION);
    this.#runner = runner;
    return runner;
  }

  #lose(exitCode: number): void {
    this.#runner = undefined;
    console.error(`The session's process ended with exit code ${exitCode}. The state is empty; files stay.`);
  }

  async #command(name: string): Promise<void> {
    if (name === '.help') console.log(HELP);
    else if (name === '.clear') {
      await this.#runner?.dispose();
      this.#runner = undefined;
    } else if (name === '.snapshot') {
      await this.#ready();
      this.#kept = await this.#runtime.snapshot();
      console.log(this.#kept.id);
    } else if (name === '.rollback' && this.#kept !== undefined) await this.#rollback(this.#kept);
    else console.error(name === '.rollback' ? 'There is no snapshot: type .snapshot first.' : 'Unknown command: type .help.');
  }

  async #rollback(snapshot: Snapshot): Promise<void> {
    await this.#runtime.rollback(snapshot);
    // After `.clear` the present runner is not the runner of the snapshot.
    const [runner] = await this.#runtime.residentRunners();
    this.#runner = runner;
  }
}

/** Returns whether the line is a command. A number such as `.5` is no command. */
const isCommand = (text: string): boolean => /^\s*\.[a-z]+\s*$/.test(text);
