// Reads commands from a terminal or a pipe: prompts, several lines for one command, history.
// `SIGINT` at the prompt drops the typed lines. `SIGINT` during a command calls `onInterrupt`.

import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const HISTORY_LINES = 1_000;
const CONTINUED = '... ';

type Waiting = (line: string | undefined | typeof INTERRUPTED) => void;
const INTERRUPTED = Symbol('interrupted');

/** Reads the commands of one session. */
export class LineReader {
  /** Called for SIGINT while a command runs. */
  onInterrupt: () => Promise<void> | void = () => {};
  readonly #lines: Interface;
  readonly #history: string | undefined;
  /** Lines that arrived before they were read. */
  readonly #early: string[] = [];
  #waiting: Waiting | undefined;
  #isClosed = false;

  constructor(name: string) {
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local/state');
    this.#history = isTerminal ? join(state, 'coldframe', `${name}-history`) : undefined;
    const history = readHistory(this.#history);
    const common = { input: process.stdin, output: process.stdout, terminal: isTerminal };
    this.#lines = createInterface({ ...common, history, historySize: HISTORY_LINES, removeHistoryDuplicates: true });
    this.#lines.on('line', (line) => this.#deliver(line));
    this.#lines.once('close', () => {
      this.#isClosed = true;
      this.#waiting?.(undefined);
    });
    this.#lines.on('SIGINT', () => this.#interrupt());
    process.on('SIGINT', () => this.#interrupt());
  }

  /**
   * Reads a command. `needsMore` returns whether the lines so far are incomplete. Returns
   * `undefined` at the end of the input.
   */
  async read(prompt: string, needsMore: (text: string) => boolean): Promise<string | undefined> {
    let text = '';
    for (;;) {
      const line = await this.#line(text === '' ? prompt : CONTINUED);
      if (line === INTERRUPTED) {
        process.stdout.write('\n');
        text = '';
        continue;
      }
      if (line === undefined) return text === '' ? undefined : text;
      text = text === '' ? line : `${text}\n${line}`;
      if (needsMore(text)) continue;
      this.#remember(text);
      return text;
    }
  }

  close(): void {
    this.#lines.close();
  }

  #line(prompt: string): Promise<string | undefined | typeof INTERRUPTED> {
    const early = this.#early.shift();
    if (early !== undefined) return Promise.resolve(early);
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting = (line) => {
        this.#waiting = undefined;
        resolve(line);
      };
      this.#lines.setPrompt(prompt);
      this.#lines.prompt();
    });
  }

  #deliver(line: string): void {
    if (this.#waiting === undefined) this.#early.push(line);
    else this.#waiting(line);
  }

  #interrupt(): void {
    if (this.#waiting === undefined) {
      void this.onInterrupt();
      return;
    }
    if (this.#lines.terminal) {
      // Drops the typed text of the line: to the end, and back to the start.
      this.#lines.write(null, { ctrl: true, name: 'e' });
      this.#lines.write(null, { ctrl: true, name: 'u' });
    }
    this.#waiting(INTERRUPTED);
  }

  // The history is a convenience, so a folder that cannot be written is no error.
  #remember(text: string): void {
    if (this.#history === undefined || text.trim() === '') return;
    try {
      mkdirSync(dirname(this.#history), { recursive: true, mode: 0o700 });
      appendFileSync(this.#history, `${text.replaceAll('\n', ' ')}\n`, { mode: 0o600 });
    } catch {}
  }
}

function readHistory(path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    return readFileSync(path, 'utf8').trim().split('\n').slice(-HISTORY_LINES).reverse();
  } catch {
    return [];
  }
}
