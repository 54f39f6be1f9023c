// An interactive shell: prompts, lines from the line editor or from a pipe, history, and job
// control on a terminal. Next: line-editor.js, history.js, prompt.js, ../jobs.js.

import kernel from 'coldframe:kernel';
import { write } from '../descriptors.js';
import { forgetInterrupt, watchInterrupts } from '../interrupts.js';
import { allJobs, hangUp, monitor, reportEnded } from '../jobs.js';
import { signalNumber } from '../processes.js';
import { done, runSafely, runScript } from '../run-script.js';
import { nextLine } from '../script-input.js';
import { runStartUpFiles } from '../start-up.js';
import { complete } from './completion.js';
import { addLine, expandHistory, history, joinLine, loadHistory, saveHistory } from './history.js';
import { LineEditor } from './line-editor.js';
import { promptOf } from './prompt.js';

const TERMINAL = 0;
const SCREEN = 2;
const HANGUP = 129;
const IGNORED = ['SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGQUIT', 'SIGTERM'];

const say = (text) => write(SCREEN, Buffer.from(text));

// Puts the shell into the foreground of its terminal, in a process group of its own. Returns a
// function that returns the terminal to the group before.
function takeTerminal() {
  for (const name of IGNORED) kernel.ignore(signalNumber(name));
  const before = kernel.getForeground(TERMINAL);
  kernel.setGroup(0, 0);
  const group = kernel.getGroup(0);
  kernel.setForeground(TERMINAL, group);
  Object.assign(monitor, { isOn: true, group, attributes: kernel.getAttributes(TERMINAL) });
  return () => {
    if (before !== group) kernel.setForeground(TERMINAL, before);
  };
}

class Session {
  #interpreter;
  #editor;
  #count = 1;
  #hasWarned = false;

  constructor(interpreter) {
    this.#interpreter = interpreter;
  }

  get #env() {
    return this.#interpreter.ctx.state.env;
  }

  begin() {
    const env = this.#env;
    if (!env.has('PS1')) env.set('PS1', '\\u@\\h:\\w\\$ ');
    if (!env.has('PS2')) env.set('PS2', '> ');
    loadHistory(env);
    if (!kernel.isTerminal(TERMINAL)) return;
    this.#editor = new LineEditor({ complete: (line) => complete(line, this.#interpreter), lines: () => history.lines });
    this.#setSize();
  }

  #setSize() {
    this.#editor.resize();
    this.#env.set('COLUMNS', String(this.#editor.columns));
    this.#env.set('LINES', String(this.#editor.rows));
  }

  async #prompt(isContinuation) {
    const env = this.#env;
    const number = history.first + history.lines.length;
    if (!isContinuation) {
      reportEnded();
      const command = env.get('PROMPT_COMMAND');
      if (command) await this.#runKeepingStatus(command);
      if (this.#editor !== undefined) this.#setSize();
    }
    const text = env.get(isContinuation ? 'PS2' : 'PS1') ?? '';
    return promptOf(this.#interpreter, text, { number, count: this.#count });
  }

  async #runKeepingStatus(command) {
    const { state } = this.#interpreter.ctx;
    const { lastExitCode } = state;
    await runSafely(this.#interpreter, () => this.#interpreter.runCommand('eval', [command], [false], '', true), true);
    state.lastExitCode = lastExitCode;
    state.env.set('?', String(lastExitCode));
  }

  // Reads a line for the given prompt. Returns the forms of `edit`.
  async #read(prompt) {
    if (this.#editor !== undefined) {
      const read = await this.#editor.edit(prompt);
      monitor.attributes = kernel.getAttributes(TERMINAL);
      return read;
    }
    say(prompt);
    const line = await nextLine(TERMINAL);
    return line === undefined ? { isEnd: true } : { line: line.replace(/\n$/, '') };
  }

  /** Resolves with the next line of the user, in the forms of `runScript`. */
  async line(isContinuation) {
    for (;;) {
      forgetInterrupt();
      const { line, isEnd, isDropped } = await this.#read(await this.#prompt(isContinuation));
      if (isDropped) {
        this.#setStatus(130);
        if (isContinuation) return null;
        continue;
      }
      if (isEnd) {
        if (this.#keepsRunning(isContinuation)) continue;
        return undefined;
      }
      const text = this.#expand(line);
      if (text === undefined) continue;
      if (isContinuation) joinLine(text);
      else addLine(text, this.#env);
      this.#count++;
      this.#hasWarned &&= text.trim() === '';
      return `${text}\n`;
    }
  }

  #setStatus(exitCode) {
    this.#interpreter.ctx.state.lastExitCode = exitCode;
    this.#env.set('?', String(exitCode));
  }

  // Expands the references to the history. Returns undefined for a line that does not run.
  #expand(line) {
    if (this.#editor === undefined) return line;
    const { line: text, missing, isChanged, isPrinted } = expandHistory(line);
    if (missing !== undefined) {
      say(`bash: ${missing}: event not found\n`);
      return undefined;
    }
    if (isChanged) say(`${text}\n`);
    if (!isPrinted) return text;
    addLine(text, this.#env);
    return undefined;
  }

  // Warns once about stopped jobs before the shell ends.
  #keepsRunning(isContinuation) {
    if (isContinuation || this.#hasWarned || !allJobs().some(({ state }) => state === 'Stopped')) return false;
    this.#hasWarned = true;
    say('\nThere are stopped jobs.\n');
    return true;
  }
}

/** Runs an interactive shell until `exit` or the end of its input. Resolves with the result. */
export async function interact(interpreter, start) {
  const isTerminal = kernel.isTerminal(TERMINAL);
  const giveBack = isTerminal ? takeTerminal() : () => {};
  watchInterrupts();
  const { env } = interpreter.ctx.state;
  process.on('SIGHUP', () => {
    hangUp();
    saveHistory(env);
    process.exit(HANGUP);
  });
  const session = new Session(interpreter);
  session.begin();
  const isEnded = await runStartUpFiles(interpreter, start);
  const result = isEnded
    ? done(interpreter.ctx.state)
    : await runScript(interpreter, { isInteractive: true, line: (isContinuation) => session.line(isContinuation) });
  say(start.isLogin ? 'logout\n' : 'exit\n');
  saveHistory(interpreter.ctx.state.env);
  giveBack();
  return result;
}
