// Pipelines. If every command can run in this process, the commands run one after the other, each
// with the output of the previous command. If a command is another program, all commands that can
// be processes become processes. A pipeline whose input may have no end is also started as
// processes. Real pipes connect the processes, which run concurrently. Output then flows without
// being collected, and a writer ends when its reader has ended. Other pipelines start no process,
// because a process costs a few milliseconds, and `echo x | tr a b` needs no process.
// Next: interpreter.js.

import { close, descriptorOf, openUnnamedFile, pipe, readAll, readUnnamedFile } from './descriptors.js';
import { follows, hasOwnInput, inputMayWait, plainArguments, readsAsItComes } from './input.js';
import { ended, exitCodeOf } from './processes.js';
import { keeping, sink } from './sink.js';

const ALL = { out: true, err: true };
const LEFT = { out: true, err: false };

/** Returns the name of a simple command that is plain text, or undefined. */
export function plainName(node) {
  if (node.type !== 'SimpleCommand' || node.name === null || node.name === undefined) return undefined;
  const plain = node.name.parts.every(({ type }) => type === 'Literal' || type === 'SingleQuoted' || type === 'Escaped');
  return plain ? node.name.parts.map(({ value }) => value).join('') : undefined;
}

/**
 * Returns the kind of a command in a pipeline: 'program', 'own' (may be a process), or 'here' (runs
 * in this process).
 */
export function kindOf(interpreter, node) {
  const name = plainName(node);
  const kind = name === undefined ? 'here' : interpreter.kindOf(name);
  return kind === 'program' || kind === 'own' ? kind : 'here';
}

export async function runPipeline(interpreter, node, plain) {
  const kinds = node.commands.map((command) => kindOf(interpreter, command));
  const startsProcesses = kinds.includes('program') || mayNotEnd(interpreter, node, kinds);
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

/**
 * Starts all commands of a pipeline at once. Returns the result of the pipeline, or the pids if
 * `waits` is false.
 */
export async function atOnce(interpreter, node, kinds, waits = true) {
  const errors = sink.err || !waits ? 2 : openUnnamedFile();
  const [from, to] = sink.out || !waits ? [-1, 1] : pipe();
  const exits = [];
  const releases = [];
  const result = { stdout: '', stderr: '', exitCode: 0 };
  let input = waits ? undefined : null;
  for (let i = 0; i < kinds.length; i++) {
    const isLast = i + 1 === kinds.length;
    const merges = node.pipeStderr?.[i] ?? false;
    if (kinds[i] === 'here') {
      const done = await here(interpreter, node.commands[i], input, isLast, merges);
      exits.push(done.exitCode);
      result.stderr += done.stderr;
      if (isLast) Object.assign(result, { stdout: done.stdout, stdoutKind: done.stdoutKind });
      else input = descriptorOf(Buffer.from(done.stdout, 'latin1'));
      continue;
    }
    const [read, out] = isLast ? [undefined, to] : pipe();
    const plan = { stdin: input === null ? -1 : input, stdout: out, stderr: merges ? out : errors };
    interpreter.plan = plan;
    const done = await interpreter.executeCommand(node.commands[i], '');
    interpreter.plan = undefined;
    if (input > 0) close(input);
    if (!isLast) close(out);
    result.stderr += done.stderr;
    exits.push(plan.pid === undefined ? done.exitCode : { pid: plan.pid });
    if (plan.release !== undefined) releases.push(plan.release);
    input = read;
  }
  if (!waits) return exits.filter((exit) => typeof exit === 'object').map(({ pid }) => pid);
  if (to !== 1) {
    close(to);
    if (kinds.at(-1) !== 'here') Object.assign(result, { stdout: readAll(from).toString('latin1'), stdoutKind: 'bytes' });
    close(from);
  }
  const codes = await Promise.all(
    exits.map(async (exit) => (typeof exit === 'object' ? exitCodeOf(await ended(exit.pid)) : exit)),
  );
  for (const release of releases) release();
  if (errors !== 2) result.stderr += readUnnamedFile(errors).toString('utf8');
  return conclude(interpreter.ctx.state, node, codes, result);
}

// Runs a command that cannot be a process in a subshell of this process. The command reads all
// input before it runs.
async function here(interpreter, command, input, isLast, merges) {
  const { state } = interpreter.ctx;
  const before = state.groupStdin;
  if (input !== undefined) {
    state.groupStdin = input === null ? '' : readAll(input).toString('latin1');
    if (input !== null) close(input);
  }
  const pipeline = { type: 'Pipeline', commands: [command], negated: false };
  const statement = { type: 'Statement', pipelines: [pipeline], operators: [], background: false };
  const run = () => interpreter.executeCommand({ type: 'Subshell', body: [statement], redirections: [] }, '');
  try {
    if (isLast) return await run();
    const done = await keeping(merges ? ALL : LEFT, run);
    return merges ? { ...done, stdout: Buffer.from(done.stderr).toString('latin1') + done.stdout, stderr: '' } : done;
  } finally {
    state.groupStdin = before;
  }
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
