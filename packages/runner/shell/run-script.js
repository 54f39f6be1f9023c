// Runs a script whose lines arrive one by one. Each command runs when it is complete, before the
// next line is read, so that the command can read the rest of the input. Next: complete.js.

import { parseLines, parseRest, syntaxMessage } from './complete.js';
import { write } from './descriptors.js';
import { bytesOf, flush } from './sink.js';
import { nextTrapped, runTraps } from './traps.js';

const SYNTAX_ERROR = 2;
// Errors of just-bash after which a script continues with the next command.
const CONTINUES = new Set(['ArithmeticError', 'BraceExpansionError', 'BreakError', 'ContinueError', 'ReturnError']);

/**
 * Runs the commands of `input` and resolves with the exit code. `input.line(isContinuation)`
 * resolves with a line that ends with a line break. The result is undefined at the end, and null if
 * the user has dropped the lines so far. An interactive shell continues after errors.
 */
export async function runScript(interpreter, input) {
  const { state } = interpreter.ctx;
  const lines = { count: 0, line: (isContinuation) => lineOrTraps(interpreter, input.line(isContinuation)) };
  const isInteractive = input.isInteractive ?? false;
  try {
    for (let read = await readCommands(lines); read !== undefined; read = await readCommands(lines)) {
      if (read.error !== undefined) {
        write(2, Buffer.from(report(state, read, lines.count)));
        setStatus(state, SYNTAX_ERROR);
        if (isInteractive) continue;
        break;
      }
      if (read.warning !== undefined) write(2, Buffer.from(`${nameOf(state)}: line ${lines.count}: ${read.warning}\n`));
      shiftLines(read.script, read.first);
      for (const statement of read.script?.statements ?? []) {
        const next = await runSafely(interpreter, () => interpreter.executeStatement(statement), isInteractive);
        if (next === 'end') return done(state);
        if (next === 'drop') break;
      }
    }
  } catch (error) {
    // A trap that ran between two lines has ended the shell.
    if (typeof error?.exitCode !== 'number') throw error;
    setStatus(state, flush(error).exitCode);
  }
  return done(state);
}

const nameOf = (state) => state.env.get('0') ?? 'bash';

/** Returns the result of a script that ends now. */
export const done = ({ lastExitCode }) => ({ stdout: '', stderr: '', exitCode: lastExitCode });

// Returns the lines of bash for a syntax error. The second line shows the text of the error.
function report(state, { error, text }, count) {
  const message = syntaxMessage(error);
  const line = message.includes('end of file') ? count + 1 : count;
  const where = `${nameOf(state)}: line ${line}: `;
  const shown = message.includes('near unexpected token') ? `${where}\`${text.trimEnd().split('\n').at(-1)}'\n` : '';
  return `${where}${message}\n${shown}`;
}

function setStatus(state, exitCode) {
  state.lastExitCode = exitCode;
  state.env.set('?', String(exitCode));
}

/**
 * Runs a statement by `run` and sets `$?`. Returns 'continue', 'end' if the script ends, or 'drop'
 * if an interactive shell drops the other statements of its line.
 */
export async function runSafely(interpreter, run, isInteractive) {
  const { state } = interpreter.ctx;
  try {
    setStatus(state, flush(await run()).exitCode);
    return 'continue';
  } catch (error) {
    if (typeof error?.stdout !== 'string') {
      if (!(error instanceof Error)) throw error;
      write(2, bytesOf(`${nameOf(state)}: ${error.message}\n`));
      setStatus(state, error.name === 'ParseException' ? SYNTAX_ERROR : 1);
      return isInteractive ? 'drop' : 'end';
    }
    flush({ stdout: error.stdout, stderr: error.stderr });
    if (error.name !== 'BreakError' && error.name !== 'ContinueError') setStatus(state, error.exitCode ?? 1);
    if (error.name === 'ExitError' || error.name === 'ErrexitError') return 'end';
    if (isInteractive) return 'drop';
    return CONTINUES.has(error.name) ? 'continue' : 'end';
  }
}

// Reads lines until they form complete commands. Resolves with `{ script, first }`, where `first`
// is the number of the lines before the commands, with `{ error }`, or with undefined at the end.
async function readCommands(lines) {
  const first = lines.count;
  let text = '';
  let more;
  for (;;) {
    const line = await lines.line(text !== '');
    if (line === null) return { script: undefined };
    if (line === undefined) return text === '' ? undefined : { first, text, ...parseRest(text) };
    lines.count++;
    text += line;
    if (more !== undefined && !more(line)) continue;
    const read = parseLines(text);
    if (read.more === undefined) return { first, text, ...read };
    more = read.more;
  }
}

// Adds `count` to the line numbers of a parsed script, which begin at 1.
function shiftLines(node, count) {
  if (count === 0 || node === null || typeof node !== 'object') return;
  if (typeof node.line === 'number') node.line += count;
  for (const child of Array.isArray(node) ? node : Object.values(node)) shiftLines(child, count);
}

// Resolves with the line. Runs the traps of signals that arrive before the line.
async function lineOrTraps(interpreter, line) {
  for (;;) {
    const trapped = nextTrapped();
    try {
      const isLine = await Promise.race([line.then(() => true), trapped.signal.then(() => false)]);
      if (isLine) return await line;
    } finally {
      trapped.stop();
    }
    await runTraps(interpreter);
  }
}
