// Builds whatever is missing or out of date: `node scripts/build.mjs [--only STEP]... [--force] [--list]`.
//
// Everything that runs from the checkout calls `ensureBuilt` first; with nothing to do it answers after one `stat` per source
// file. The steps stand in build/steps.mjs, how a step is known to be up to date in build/stamp.mjs.

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

/** The steps named in `only`, or all. */
function select(only) {
  const steps = allSteps();
  const unknown = only.find((name) => !steps.some((step) => step.name === name));
  if (unknown) {
    throw new BuildFailure(`--only: expected one of ${steps.map((step) => step.name).join(', ')}, received ${unknown}`);
  }
  return only.length > 0 ? steps.filter((step) => only.includes(step.name)) : steps;
}

/** The stale steps, and those that read what a stale one will write. */
function findStale(steps, force) {
  const stale = new Set();
  for (const step of steps) {
    if (force || step.needs.some((name) => stale.has(name)) || staleReason(step)) stale.add(step.name);
  }
  return steps.filter((step) => stale.has(step.name));
}

async function runStep(step, progress, force) {
  if (!force && !staleReason(step)) return; // what it needed was rebuilt and came out the same
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

/** Makes sure that everything (or the steps in `only`) is built from the sources as they are now. */
export async function ensureBuilt({ only = [], force = false } = {}) {
  checkMachine();
  const steps = select(only);
  if (findStale(steps, force).length === 0) return;
  const waiting = (pid) => process.stderr.write(`[build] waiting for the build that process ${pid} runs in this checkout\n`);
  await withLock(async () => {
    const stale = findStale(steps, force);
    if (stale.length === 0) return;
    const progress = createProgress(stale.length);
    try {
      await schedule(stale, (step) => runStep(step, progress, force));
    } finally {
      progress.end();
    }
  }, waiting);
}

function list() {
  for (const step of allSteps()) process.stdout.write(`${step.name.padEnd(12)}${staleReason(step) ?? 'up to date'}\n`);
}

async function main() {
  const options = { only: { type: 'string', multiple: true }, force: { type: 'boolean' }, list: { type: 'boolean' } };
  const { values } = parseArgs({ options });
  if (values.list) return list();
  await ensureBuilt(values);
}

/** Runs a script's `main`; failures that explain themselves are shown without a stack. */
export async function runMain(work) {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`\n${error instanceof BuildFailure ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
