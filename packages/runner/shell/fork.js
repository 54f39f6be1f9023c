// Starts a copy of this shell that runs a part of the script, like a fork. The copy receives the
// state of this shell and the part of the script from a descriptor. These parts are groups, loops,
// functions and builtins of a pipeline, and lists in the background. Bash also runs them in
// processes of their own. Next: pipelines.js, background.js.

import v8 from 'node:v8';
import { close, descriptorOf, readAll } from './descriptors.js';
import { shellFile, start } from './processes.js';

/** The environment variable with the number of the descriptor of the parent shell's state. */
const STATE = 'COLDFRAME_SHELL_STATE';
const STATE_FD = 3;
const COPIED = [
  'arrays',
  'associativeArrays',
  'currentLine',
  'env',
  'exportedVars',
  'fileDescriptors',
  'functions',
  'inCondition',
  'integerVars',
  'lastExitCode',
  'lastBackgroundPid',
  'namerefs',
  'options',
  'previousDir',
  'readonlyVars',
  'shoptOptions',
];

/**
 * Starts the copy, which runs `statement`. `fds` are the descriptors 0, 1 and 2 of the copy; -1 is
 * closed. `place` has the options of `start` for the process group. Returns the pid, or the
 * failure: `{ exitCode, message }`.
 */
export function fork(interpreter, statement, fds, place) {
  const { state } = interpreter.ctx;
  const copy = Object.fromEntries(COPIED.map((name) => [name, state[name]]));
  const held = descriptorOf(v8.serialize({ state: { ...copy, virtualPid: state.virtualPid }, statement }));
  const pid = start({
    file: shellFile(),
    args: [state.env.get('0') ?? 'bash'],
    env: { ...interpreter.buildExportedEnv(), [STATE]: String(STATE_FD) },
    cwd: state.cwd,
    fds: [...fds, held],
    ...place,
  });
  close(held);
  return pid;
}

/** Returns the pid of a copy of this shell. Throws if no process can be started. */
export function mustFork(interpreter, statement, fds, place) {
  const pid = fork(interpreter, statement, fds, place);
  if (typeof pid === 'object') throw new Error(`fork: ${pid.message}`);
  return pid;
}

/**
 * If this process is a copy of a shell, sets the state of the parent shell in `state`, and returns
 * the statement to run. Otherwise returns undefined.
 */
export function inherited(state) {
  const fd = process.env[STATE];
  if (fd === undefined) return undefined;
  const { state: given, statement } = v8.deserialize(readAll(Number(fd)));
  close(Number(fd));
  delete process.env[STATE];
  Object.assign(state, given);
  return statement;
}
