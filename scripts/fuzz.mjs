// `pnpm fuzz [TARGET...]`: builds and runs the fuzz targets of the sidecar's crates.
// docs/security-testing.md describes the targets and the kept inputs.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { cargo } from './build/cargo.mjs';
import { BuildFailure } from './build/failure.mjs';
import { cargoTargetDir, fromRoot, root, stateDir } from './build/paths.mjs';
import { run } from './build/run.mjs';

const HELP = `usage: pnpm fuzz [TARGET...] [--seconds N] [--keep] [--list]
       pnpm fuzz TARGET --input FILE

Runs each fuzz target with coverage feedback, one after the other. Without TARGET, runs all targets.

  --seconds N    the run time of each target (60)
  --seed N       the seed of libFuzzer's random numbers (any)
  --keep         adds the inputs that cover more code to the kept inputs, and removes needless ones
  --input FILE   repeats one input instead
  --list         prints the targets`;

const CRATE = 'packages/sidecar/crates/fuzz';
/** The longest time of one input, in seconds. A slower input is reported as a hang. */
const INPUT_SECONDS = 20;
/** The largest memory of a target, in MiB. The target `revive` maps images of guests. */
const MEMORY_MIB = 2_048;
/** The largest kept input in bytes, and the largest number of kept inputs of a target. */
const KEPT_BYTES = 8_192;
const KEPT_INPUTS = 64;
const LONGEST = { frames: 16_384, archive: 16_384, crypto: 4_097, revive: 4_096 };

const targets = () =>
  [...readFileSync(fromRoot(CRATE, 'src/main.rs'), 'utf8').matchAll(/^ {4}\("([a-z-]+)", /gm)].map(([, name]) => name);

const print = (line) => process.stdout.write(`${line}\n`);

/** Builds the fuzzer. The wrapper adds the coverage counters to the crates of the workspace. */
async function build() {
  print('building the fuzzer');
  const wrapper = fromRoot(CRATE, 'instrument.sh');
  process.env.RUSTC_WORKSPACE_WRAPPER = wrapper;
  const args = ['build', '--locked', '--profile', 'builder', '-p', 'coldframe-fuzz', '--features', 'libfuzzer'];
  await cargo(args, (line) => /^\s*(Compiling|error|warning)/.test(line) && print(line.trim()));
  delete process.env.RUSTC_WORKSPACE_WRAPPER;
  return join(cargoTargetDir, 'builder/coldframe-fuzz');
}

const files = (folder) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []);

/** Runs libFuzzer. Resolves with its lines, whether it failed or not. */
async function libFuzzer(program, target, args, seconds) {
  const lines = [];
  const env = { COLDFRAME_FUZZ_TARGET: target, RUST_BACKTRACE: '1' };
  const onLine = (line) => {
    lines.push(line);
    if (/^#\d+\s+(INITED|pulse|RELOAD|DONE)/.test(line)) print(`  ${line.replaceAll(/\s+/g, ' ')}`);
  };
  try {
    await run(program, args, { onLine, env, longestMs: (seconds + 600) * 1_000 });
    return { lines, failed: false };
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error;
    return { lines, failed: true };
  }
}

const statistic = (lines, name) => Number(new RegExp(`^stat::${name}:\\s+(\\d+)`, 'm').exec(lines.join('\n'))?.[1] ?? 0);

/** Returns the lines of a failed run that have the cause. */
const cause = (lines) => lines.filter((line) => /panicked at|^assertion|^ {2}(left|right):|ERROR: libFuzzer|SUMMARY/.test(line));

/** Fuzzes one target. Returns whether an input failed. */
async function fuzz(program, target, { seconds, seed, keep }) {
  const kept = fromRoot(CRATE, 'corpus', target);
  const found = join(stateDir, 'fuzz', target);
  const failures = join(stateDir, 'fuzz', 'failures');
  for (const folder of [kept, found, failures]) mkdirSync(folder, { recursive: true });
  print(`${target}: ${files(kept).length} kept inputs, ${seconds} s`);
  const before = new Set(files(failures));
  const args = [
    `-max_total_time=${seconds}`,
    `-timeout=${INPUT_SECONDS}`,
    `-rss_limit_mb=${MEMORY_MIB}`,
    `-max_len=${LONGEST[target] ?? KEPT_BYTES}`,
    `-artifact_prefix=${failures}/${target}-`,
    '-print_final_stats=1',
    '-report_slow_units=2',
    ...(seed ? [`-seed=${seed}`] : []),
    found,
    kept,
  ];
  const { lines, failed } = await libFuzzer(program, target, args, seconds);
  const covered = lines.findLast((line) => /\bcov: \d+/.test(line)) ?? '';
  const [, edges = '?', features = '?'] = /cov: (\d+) ft: (\d+)/.exec(covered) ?? [];
  print(`  ${statistic(lines, 'number_of_executed_units')} executions, ${edges} edges, ${features} features`);
  const inputs = files(failures).filter((file) => !before.has(file));
  if (failed) for (const line of cause(lines)) print(`  ${line}`);
  for (const input of inputs) {
    print(`  found: ${relative(root, input)}`);
    print(`  repeat: node scripts/fuzz.mjs ${target} --input ${relative(root, input)}`);
    print(`  keep: copy the file to ${CRATE}/corpus/${target}/ with a name that describes the fault`);
  }
  if (keep && !failed) await reduce(program, target, kept, found);
  return failed;
}

/**
 * Replaces the kept inputs by the smallest inputs that cover the same code, at most
 * `KEPT_INPUTS`. An input whose name is no digest was named by a person and stays.
 */
async function reduce(program, target, kept, found) {
  const merged = mkdtempSync(join(tmpdir(), 'coldframe-fuzz-'));
  await libFuzzer(program, target, ['-merge=1', `-max_len=${KEPT_BYTES}`, merged, found, kept], 600);
  const named = (file) => !/^[0-9a-f]{40}$/.test(basename(file));
  for (const file of files(kept).filter((file) => !named(file))) rmSync(file);
  const smallest = files(merged).sort((a, b) => statSync(a).size - statSync(b).size);
  for (const file of spread(smallest, KEPT_INPUTS)) {
    const bytes = readFileSync(file);
    writeFileSync(join(kept, createHash('sha1').update(bytes).digest('hex')), bytes);
  }
  rmSync(merged, { recursive: true });
  print(`  kept: ${files(kept).length} inputs`);
}

/** Returns at most `most` items of a list, evenly spread. */
const spread = (list, most) =>
  list.length <= most ? list : Array.from({ length: most }, (_, at) => list[Math.floor((at * list.length) / most)]);

async function repeat(program, target, input) {
  const { lines, failed } = await libFuzzer(program, target, [`-timeout=${INPUT_SECONDS}`, input], INPUT_SECONDS);
  for (const line of lines) print(line);
  return failed;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string' },
      keep: { type: 'boolean' },
      input: { type: 'string' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return print(HELP);
  const known = targets();
  if (values.list) return print(known.join('\n'));
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown) throw new BuildFailure(`expected a target (${known.join(', ')}), received ${unknown}`);
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new BuildFailure(`--seconds: expected a number, received ${values.seconds}`);
  if (values.input && positionals.length !== 1) throw new BuildFailure('--input needs exactly one target');
  const program = await build();
  const failed = [];
  for (const target of positionals.length > 0 ? positionals : known) {
    const work = values.input ? repeat(program, target, values.input) : fuzz(program, target, { ...values, seconds });
    if (await work) failed.push(target);
  }
  if (failed.length > 0) throw new BuildFailure(`failed: ${failed.join(', ')}`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof BuildFailure || error.code?.startsWith('ERR_PARSE_ARGS'))) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
