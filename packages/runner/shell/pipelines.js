// Pipelines. If every command is brief and can run in this process, the commands run one after the
// other. Each receives the output of the previous command. Such a pipeline starts no process,
// because a process costs a few milliseconds, and `echo x | tr a b` needs no process. Otherwise all
// commands become processes: programs, commands of just-bash, and copies of this shell for
// everything else (fork.js). Real pipes connect the processes, which run concurrently. Output then
// flows without being collected, and a writer ends when its reader has ended. Next: brief.js,
// interpreter.js.

import { mayRunLong, plainName } from './brief.js';
import { close, openUnnamedFile, pipe, readAll, readUnnamedFile } from './descriptors.js';
import { fork } from './fork.js';
import { follows, hasOwnInput, inputFor, inputMayWait, plainArguments, readsAsItComes } from './input.js';
import { awaitForeground, foregroundGroup, usesJobControl } from './jobs.js';
import { pipelineOf, statementOf, textOf } from './nodes.js';
import { ended, exitCodeOf } from './processes.js';
import { keeping, sink } from './sink.js';

const ALL = { out: true, err: true };
const LEFT = { out: true, err: false };

// Returns the kind of a command in a pipeline: 'program', 'own' (may be a process), or 'here' (runs
// in a shell).
function kindOf(interpreter, node) {
  const name = plainName(node);
  const kind = name === undefined ? 'here' : interpreter.kindOf(name);
  return kind === 'program' || kind === 'own' ? kind : 'here';
}

export async function runPipeline(interpreter, node, plain) {
  const kinds = node.commands.map((command) => kindOf(interpreter, command));
  const lefts = node.commands.slice(0, -1);
  const startsProcesses =
    usesJobControl() ||
    kinds.includes('program') ||
    mayNotEnd(interpreter, node, kinds) ||
    lefts.some((command) => mayRunLong(interpreter, command));
  return startsProcesses ? atOnce(interpreter, node, kinds) : oneByOne(interpreter, node, plain);
}

// Returns whether a command of just-bash must write output before its input has ended. Such a
// command follows a file, or is the first command and reads the shell's own input.
function mayNotEnd(interpreter, { commands }, kinds) {
  const own = commands.filter((_, index) => kinds[index] === 'own');
  if (own.some((command) => follows(plainName(command), plainArguments(command)))) return true;
  const [first] = commands;
  if (kinds[0] !== 'own' || hasOwnInput(first) || !interpreter.readsDescriptor()) return false;
  return readsAsItComes(plainName(first), plainArguments(first)) && inputMayWait();
}

// Runs the commands of a pipeline one after the other. Only the last command may write to this
// process's output.
function oneByOne(interpreter, node, plain) {
  const { executeCommand } = interpreter;
  const { state } = interpreter.ctx;
  let index = 0;
  // The output of a command is the next command's input, even if empty.
  const between = Object.create(interpreter, {
    executeCommand: {
      value(command, stdin) {
        const isFirst = index++ === 0;
        if (!isFirst) state.groupStdin = stdin;
        const run = () => executeCommand.call(interpreter, command, stdin, !isFirst);
        return index === node.commands.length ? run() : keeping(node.pipeStderr?.[index - 1] ? ALL : LEFT, run);
      },
    },
  });
  return plain.call(between, node);
}

// Starts the commands of a pipeline with pipes between them. `ends` has the input of the first
// command, the output of the last command, and the errors of all commands. The input is undefined
// for the shell's own input. Returns an entry for each command: `{ pid }` or `{ exitCode }`, both
// with the function `release`.
async function startAll(interpreter, node, kinds, ends, group) {
  const entries = [];
  let input = ends.input;
  let stderr = '';
  for (let i = 0; i < kinds.length; i++) {
    const isLast = i + 1 === kinds.length;
    const [read, out] = isLast ? [undefined, ends.output] : pipe();
    const plan = { stdin: input, stdout: out, stderr: node.pipeStderr?.[i] ? out : ends.errors, group };
    const started =
      kinds[i] === 'here'
        ? forkCommand(interpreter, node.commands[i], plan)
        : await startCommand(interpreter, node.commands[i], plan);
    stderr += started.stderr ?? '';
    entries.push(started);
    if (started.pid !== undefined) group.started(started.pid);
    if (i > 0) close(input);
    if (!isLast) close(out);
    input = read;
  }
  return { entries, stderr };
}

async function startCommand(interpreter, command, plan) {
  interpreter.plan = plan;
  try {
    const { exitCode, stderr } = await interpreter.executeCommand(command, '');
    return { pid: plan.pid, exitCode, stderr, release: plan.release };
  } catch (error) {
    // An expansion has failed or has ended its subshell.
    if (typeof error?.stderr !== 'string') throw error;
    return { exitCode: error.exitCode ?? 1, stderr: error.stderr };
  } finally {
    interpreter.plan = undefined;
  }
}

function forkCommand(interpreter, command, plan) {
  const given = plan.stdin === undefined ? inputFor(interpreter.ctx.state, '', false) : { fd: plan.stdin };
  const pid = fork(interpreter, statementOf([pipelineOf(command)]), [given.fd, plan.stdout, plan.stderr], plan.group.next());
  if (typeof pid !== 'object') return { pid, release: given.release };
  given.release?.();
  return { exitCode: pid.exitCode, stderr: `${interpreter.where()}fork: ${pid.message}\n` };
}

/** Starts a pipeline in the background. Returns the pids of its processes. */
export async function startPipeline(interpreter, node, group) {
  const kinds = node.commands.map((command) => kindOf(interpreter, command));
  const ends = { input: usesJobControl() ? 0 : -1, output: 1, errors: 2 };
  const { entries } = await startAll(interpreter, node, kinds, ends, group);
  return entries.map(({ pid }) => pid).filter((pid) => pid !== undefined);
}

// Runs all commands of a pipeline at once, and returns the result of the pipeline.
async function atOnce(interpreter, node, kinds) {
  const errors = sink.err ? 2 : openUnnamedFile();
  const [from, to] = sink.out ? [-1, 1] : pipe();
  const group = foregroundGroup();
  const { entries, stderr } = await startAll(interpreter, node, kinds, { input: undefined, output: to, errors }, group);
  const result = { stdout: '', stderr, exitCode: 0 };
  if (to !== 1) {
    close(to);
    Object.assign(result, { stdout: readAll(from).toString('latin1'), stdoutKind: 'bytes' });
    close(from);
  }
  const codes = await exitCodes(entries, node, group);
  for (const { release } of entries) release?.();
  if (errors !== 2) result.stderr += readUnnamedFile(errors).toString('utf8');
  return conclude(interpreter.ctx.state, node, codes, result);
}

async function exitCodes(entries, node, group) {
  const pids = entries.map(({ pid }) => pid).filter((pid) => pid !== undefined);
  if (group.id !== undefined) {
    const codes = await awaitForeground(pids, () => textOf([node]), group.id);
    return entries.map(({ pid, exitCode }) => codes.get(pid) ?? exitCode);
  }
  return Promise.all(entries.map(async ({ pid, exitCode }) => (pid === undefined ? exitCode : exitCodeOf(await ended(pid)))));
}

function conclude(state, node, codes, result) {
  state.arrays.set('PIPESTATUS', {
    kind: 'indexed',
    elements: new Map(codes.map((code, index) => [String(index), String(code)])),
  });
  const failed = state.options.pipefail ? codes.findLast((code) => code !== 0) : undefined;
  const exitCode = failed ?? codes.at(-1);
  return { ...result, exitCode: node.negated ? Number(exitCode === 0) : exitCode };
}
