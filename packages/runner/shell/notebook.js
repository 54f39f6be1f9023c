// A shell that stays alive and evaluates the cells of a notebook. All cells run in one interpreter,
// so variables, functions, options, aliases and the working directory last. The guest's bootstrap
// calls these functions (bootstrap/program/shell.js). Next: interpreter.js.

import { parse } from 'just-bash';
import { processTable } from './commands/process-table.js';
import { write } from './descriptors.js';
import { beginGeneration, withInterpreter } from './generations.js';
import { children } from './processes.js';
import { bytesOf, flush, sink } from './sink.js';
import { takeExitTrap } from './traps.js';

const SYNTAX_ERROR = 2;
const FAILURE = 1;
// Errors that `exit`, `set -e`, `return` and similar builtins throw have an output.
const ENDS_SHELL = 'ExitError';
const CONTINUES = new Set(['BreakError', 'ContinueError', 'ReturnError']);

let bash;
let interpreter;
// The values to restore after the evaluation, or undefined.
let before;

/** Prepares the notebook. `make` makes the shell's state. */
function prepare(make) {
  if (interpreter !== undefined) return;
  bash = make();
  const { state } = bash;
  for (const [name, value] of [
    ['0', 'bash'],
    ['#', '0'],
    ['@', ''],
    ['*', ''],
  ])
    state.env.set(name, value);
  state.shoptOptions.expand_aliases = true;
  interpreter = withInterpreter(bash);
}

/**
 * Sets the place of the next evaluation. The first text is a directory, or empty. The other texts
 * are variables as NAME=value. Without texts, the evaluation has the shell's own place.
 */
export function enter(make, texts) {
  prepare(make);
  leave();
  if (texts.length === 0) return;
  const { state } = interpreter.ctx;
  const [cwd, ...variables] = texts;
  before = { cwd: undefined, variables: [] };
  for (const variable of variables) {
    const split = variable.indexOf('=', 1);
    const name = variable.slice(0, split);
    before.variables.push({ name, value: state.env.get(name), isExported: state.exportedVars.has(name) });
    state.env.set(name, variable.slice(split + 1));
    state.exportedVars.add(name);
  }
  if (cwd === '') return;
  before.cwd = state.cwd;
  moveTo(state, cwd);
}

/** Restores the shell's own variables and working directory. */
export function leave() {
  if (before === undefined) return;
  const { cwd, variables } = before;
  before = undefined;
  const { state } = interpreter.ctx;
  for (const { name, value, isExported } of variables) {
    if (value === undefined) state.env.delete(name);
    else state.env.set(name, value);
    if (!isExported) state.exportedVars.delete(name);
  }
  if (cwd !== undefined) moveTo(state, cwd);
}

function moveTo(state, cwd) {
  state.cwd = cwd;
  state.env.set('PWD', cwd);
}

/** Runs a cell. Resolves with the exit code of its last command. `exit` ends the process. */
export async function evaluate(make, text) {
  prepare(make);
  const { state } = interpreter.ctx;
  let script;
  try {
    script = parse(text);
  } catch (error) {
    write(2, bytesOf(`bash: ${error.name === 'ParseException' ? 'syntax error: ' : ''}${error.message}\n`));
    return setStatus(state, SYNTAX_ERROR);
  }
  for (const statement of script.statements) if (await endsAfter(state, statement)) break;
  return state.lastExitCode & 0xff;
}

// Runs a statement. Returns whether the cell ends after the statement.
async function endsAfter(state, statement) {
  try {
    setStatus(state, flush(await interpreter.executeStatement(statement)).exitCode);
    return false;
  } catch (error) {
    if (typeof error?.stdout !== 'string') {
      write(2, bytesOf(`bash: ${error?.message ?? error}\n`));
      setStatus(state, FAILURE);
      return true;
    }
    flush({ stdout: error.stdout, stderr: error.stderr });
    if (error.name === ENDS_SHELL || error.constructor.name === ENDS_SHELL) await exit(state, error.exitCode);
    setStatus(state, error.exitCode ?? FAILURE);
    return !CONTINUES.has(error.name);
  }
}

async function exit(state, exitCode) {
  setStatus(state, exitCode);
  const text = takeExitTrap();
  if (text) flush(await interpreter.runCommand('eval', [text], [], '', true).catch((error) => error));
  process.exit(exitCode & 0xff);
}

function setStatus(state, exitCode) {
  state.lastExitCode = exitCode;
  state.env.set('?', String(exitCode));
  return exitCode;
}

/**
 * Ends the work of an evaluation that was interrupted: its commands do not continue, and its
 * programs in the foreground end. Programs in the background continue.
 */
export function abandon() {
  if (interpreter === undefined) return;
  leave();
  beginGeneration();
  endForeground();
  Object.assign(sink, { out: true, err: true });
  const { state } = interpreter.ctx;
  Object.assign(bash.state, state, { callDepth: 0, sourceDepth: 0, loopDepth: 0, inCondition: false, localScopes: [] });
  delete bash.state.groupStdin;
  interpreter = withInterpreter(bash);
}

function endForeground() {
  const doomed = new Set([...children].filter(([, isBackground]) => !isBackground).map(([pid]) => pid));
  if (doomed.size === 0) return;
  // The table is in the order of the pids, and a child has a higher pid than its parent.
  for (const { pid, ppid } of processTable()) if (doomed.has(ppid)) doomed.add(pid);
  for (const pid of doomed) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // the process has just ended
    }
  }
}
