// Implements `command &`. A pipeline of programs is started without a wait, so that `$!` is the
// process of the last program. Any other command runs in a new shell process, which reads a copy of
// this shell's state from a descriptor, like a fork. Next: builtins.js (`wait`, `jobs`).

import v8 from 'node:v8';
import { serialize } from 'just-bash';
import { close, descriptorOf } from './descriptors.js';
import { atOnce, kindOf } from './pipelines.js';
import { ended, exitCodeOf, start } from './processes.js';

/** The environment variable with the number of the descriptor of the parent shell's state. */
export const STATE = 'COLDFRAME_SHELL_STATE';
const STATE_FD = 3;
const COPIED = [
  'arrays',
  'functions',
  'options',
  'shoptOptions',
  'readonlyVars',
  'associativeArrays',
  'integerVars',
  'exportedVars',
  'namerefs',
  'lastExitCode',
  'previousDir',
];

/**
 * The background children: pid → `{ pid, command, status, ended }`. `ended` is a promise of the
 * exit code.
 */
export const jobs = new Map();

export async function background(interpreter, node) {
  const { state } = interpreter.ctx;
  const [pipeline] = node.pipelines;
  const kinds = pipeline.commands.map((command) => kindOf(interpreter, command));
  const isPlain = node.pipelines.length === 1 && !pipeline.negated && !kinds.includes('here');
  const pids = isPlain ? await atOnce(interpreter, pipeline, kinds, false) : [fork(interpreter, { ...node, background: false })];
  const pid = pids.at(-1);
  for (const child of pids) follow(child, serializeNode(node));
  if (pid !== undefined) {
    state.lastBackgroundPid = pid;
    state.env.set('!', String(pid));
  }
  state.lastExitCode = 0;
  state.env.set('?', '0');
  return { stdout: '', stderr: '', exitCode: 0 };
}

const serializeNode = (node) => serialize({ type: 'Script', statements: [{ ...node, background: false }] }).trim();

function follow(pid, command) {
  const job = { pid, command, status: undefined };
  job.ended = ended(pid).then((status) => {
    job.status = exitCodeOf(status);
    return job.status;
  });
  jobs.set(pid, job);
}

function fork(interpreter, node) {
  const { state } = interpreter.ctx;
  const copy = Object.fromEntries(COPIED.map((name) => [name, state[name]]));
  const held = descriptorOf(v8.serialize({ ...copy, env: state.env, shellPid: state.virtualPid }));
  const fds = [-1, 1, 2, held];
  const env = { ...interpreter.buildExportedEnv(), [STATE]: String(STATE_FD) };
  const pid = start({
    file: '/bin/bash',
    args: [state.env.get('0') ?? 'bash', '-c', serializeNode(node)],
    env,
    cwd: state.cwd,
    fds,
  });
  close(held);
  if (typeof pid === 'object') throw new Error(`fork: ${pid.message}`);
  return pid;
}
