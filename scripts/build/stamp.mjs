// Decides whether a step is up to date.
//
// A stamp records the size, the modification time and the hash of every file that a finished step
// read or wrote. A file with the recorded size and time counts as unchanged. Any other file is
// hashed, so that a checkout or a `touch` that changes no byte rebuilds nothing. If no file has
// changed, the decision costs one `stat` per file.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildFailure } from './failure.mjs';
import { listFiles } from './inputs.mjs';
import { fromRoot, stateDir } from './paths.mjs';

const FORMAT = 1;

const stampPath = (name) => join(stateDir, `${name}.json`);

function readStamp(name) {
  try {
    const stamp = JSON.parse(readFileSync(stampPath(name), 'utf8'));
    return stamp.format === FORMAT ? stamp : undefined;
  } catch {
    return undefined; // no stamp, or an incomplete stamp: the step runs again
  }
}

function writeStamp(name, stamp) {
  mkdirSync(stateDir, { recursive: true });
  const temporary = `${stampPath(name)}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(stamp));
  renameSync(temporary, stampPath(name));
}

/**
 * Returns `[size, mtimeMs, sha256]` of a file, or `undefined` for a path that is no file. Reuses
 * the hash in `known` if size and time are unchanged.
 */
function record(path, known) {
  const stat = statSync(fromRoot(path), { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  if (known && known[0] === stat.size && known[1] === stat.mtimeMs) return known;
  return [
    stat.size,
    stat.mtimeMs,
    createHash('sha256')
      .update(readFileSync(fromRoot(path)))
      .digest('hex'),
  ];
}

function recordAll(paths, known = {}) {
  return Object.fromEntries(paths.map((path) => [path, record(path, known[path])]));
}

function firstDifference(recorded, current) {
  for (const [path, now] of Object.entries(current)) {
    if (!recorded[path]) return `${path} is new`;
    if (!now) return `${path} is missing`;
    if (now[2] !== recorded[path][2]) return `${path} has changed`;
  }
  return Object.keys(recorded)
    .filter((path) => !(path in current))
    .map((path) => `${path} is gone`)[0];
}

const readsOf = (step) => listFiles(step.inputs, step.skip);

/**
 * Returns the reason to run the step, or `undefined` if its outputs belong to its present inputs.
 */
export function staleReason(step) {
  const stamp = readStamp(step.name);
  if (!stamp) return 'not built yet';
  if (stamp.key !== step.key) return `the build now asks for ${step.key}`;
  const inputs = recordAll(readsOf(step), stamp.inputs);
  const outputs = recordAll(Object.keys(stamp.outputs), stamp.outputs);
  const reason = firstDifference(stamp.inputs, inputs) ?? firstDifference(stamp.outputs, outputs);
  if (!reason && isNewer({ ...inputs, ...outputs }, { ...stamp.inputs, ...stamp.outputs })) {
    writeStamp(step.name, { ...stamp, inputs, outputs }); // equal bytes, new times: the next check skips the hashes
  }
  return reason;
}

function isNewer(current, recorded) {
  return Object.entries(current).some(([path, now]) => now[1] !== recorded[path][1]);
}

/**
 * Records a step's inputs before the step runs. An input that changes meanwhile counts as changed.
 */
export const takeInputs = (step) => recordAll(readsOf(step), readStamp(step.name)?.inputs);

/** Records that the step's outputs belong to `inputs`. */
export function saveStamp(step, inputs) {
  const made = step.listOutputs?.() ?? listFiles(step.outputs);
  const absent = step.outputs.filter((path) => !made.some((file) => file === path || file.startsWith(`${path}/`)));
  if (absent.length > 0) throw new BuildFailure(`step ${step.name} ended without making ${absent.join(', ')}`);
  writeStamp(step.name, { format: FORMAT, key: step.key, inputs, outputs: recordAll(made) });
}

export const dropStamp = (step) => rmSync(stampPath(step.name), { force: true });
