// `pnpm build`: builds everything that is missing or out of date. `--help` prints the options.
//
// Every command that runs from the checkout calls `ensureBuilt` first. If every step is up to date,
// the call costs one `stat` per source file. The steps are in build/steps.mjs, the decision whether
// a step is up to date in build/stamp.mjs.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuildFailure } from './build/failure.mjs';
import { withLock } from './build/lock.mjs';
import { fromRoot } from './build/paths.mjs';
import { createProgress } from './build/progress.mjs';
import { schedule } from './build/schedule.mjs';
import { dropStamp, saveStamp, staleReason, takeInputs } from './build/stamp.mjs';
import { steps as allSteps } from './build/steps.mjs';
import { watchFolders } from './build/watch.mjs';

const HELP = `pnpm build [options]   builds everything that is missing or out of date
  --dev         builds the sidecar without link-time optimization: quick to build, slower to run
  --sanitize    also builds a guest with checks for undefined behaviour, in .build/sanitized
  --python      also builds the guest of Python
  --watch       builds again after every change, until interrupted
  --only STEP   builds only this step; may be given several times
  --force       builds steps that are up to date too
  --list        prints each step, and the reason if the step is out of date
`;

function checkMachine() {
  const { platform, arch, versions } = process;
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    throw new BuildFailure(`Coldframe runs on Linux on x64 and arm64, and this is ${platform} on ${arch}.`);
  }
  const [major, minor] = versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 11)) {
    throw new BuildFailure(`Node 20.11 or newer is needed, and this is ${versions.node}.`);
  }
  if (!existsSync(fromRoot('node_modules/typescript'))) {
    throw new BuildFailure('The dependencies are not installed: run `npx --yes pnpm@10 install`.');
  }
}

/** Returns the steps that `only` names, or all steps if `only` is empty. */
function select({ only = [], dev, sanitize, python }) {
  const steps = allSteps({ dev, sanitize, python });
  const unknown = only.find((name) => !steps.some((step) => step.name === name));
  if (unknown) {
    throw new BuildFailure(`--only: expected one of ${steps.map((step) => step.name).join(', ')}, received ${unknown}`);
  }
  return only.length > 0 ? steps.filter((step) => only.includes(step.name)) : steps;
}

/** Returns the stale steps and the steps that need a stale step. */
function findStale(steps, force) {
  const stale = new Set();
  for (const step of steps) {
    if (force || step.needs.some((name) => stale.has(name)) || staleReason(step)) stale.add(step.name);
  }
  return steps.filter((step) => stale.has(step.name));
}

async function runStep(step, progress, force) {
  if (!force && !staleReason(step)) return; // an earlier step ran again with equal outputs
  const line = progress.begin(step);
  try {
    dropStamp(step);
    const inputs = takeInputs(step);
    await step.run(line.report);
    saveStamp(step, inputs);
    line.done();
  } catch (error) {
    line.failed();
    throw error;
  }
}

/**
 * Builds the steps in `only`, or all steps, if they are out of date. `dev` chooses the development
 * build of the sidecar; without `dev` a sidecar of a development build is out of date. `sanitize`
 * adds the steps of the sanitized guest, and `python` the steps of the Python guest.
 */
export async function ensureBuilt({ only = [], force = false, dev = false, sanitize = false, python = false } = {}) {
  checkMachine();
  const steps = select({ only, dev, sanitize, python });
  if (findStale(steps, force).length === 0) return;
  const onWait = (pid) => process.stderr.write(`[build] waiting for the build that process ${pid} runs in this checkout\n`);
  await withLock(async () => {
    const stale = findStale(steps, force);
    if (stale.length === 0) return;
    const progress = createProgress(stale.length);
    try {
      await schedule(stale, (step) => runStep(step, progress, force));
    } finally {
      progress.end();
    }
  }, onWait);
}

/**
 * Builds, and builds again after every change of an input. After a failed build, waits for the next
 * change too.
 */
async function watch(options) {
  const folders = () => [...new Set(select(options).flatMap(({ inputs }) => inputs))];
  for (;;) {
    const changes = watchFolders(folders());
    await runMain(() => ensureBuilt(options));
    process.stderr.write('[build] waiting for changes\n');
    await changes.next();
  }
}

function list(options) {
  for (const step of allSteps(options)) process.stdout.write(`${step.name.padEnd(16)}${staleReason(step) ?? 'up to date'}\n`);
}

async function main() {
  const options = {
    dev: { type: 'boolean' },
    force: { type: 'boolean' },
    help: { type: 'boolean' },
    list: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    sanitize: { type: 'boolean' },
    python: { type: 'boolean' },
    watch: { type: 'boolean' },
  };
  const { values } = parseArgs({ options });
  if (values.help) return process.stdout.write(HELP);
  if (values.list) return list(values);
  await (values.watch ? watch(values) : ensureBuilt(values));
}

/**
 * Runs `work`, the main function of a script. An error is printed and sets the exit code 1. A
 * `BuildFailure` is printed without a stack.
 */
export async function runMain(work) {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`\n${error instanceof BuildFailure ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
