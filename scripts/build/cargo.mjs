// Calls cargo. On a machine that cannot compile Rust, the error names the missing program.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildFailure } from './failure.mjs';
import { cargoManifest, cargoTargetDir } from './paths.mjs';
import { run } from './run.mjs';

const HOW_TO_GET_RUST = `Coldframe's sidecar is written in Rust, and \`cargo\` was not found on PATH.
Install Rust with the command that https://rustup.rs shows, open a new shell, and run this command again.`;

const HOW_TO_GET_A_LINKER = `Rust needs a C linker, and \`cc\` was not found on PATH.
Install one (Debian, Ubuntu: \`apt install gcc libc6-dev\`; Fedora: \`dnf install gcc\`; Alpine: \`apk add build-base\`),
and run this command again.`;

const environment = { CARGO_TARGET_DIR: cargoTargetDir, CARGO_TERM_COLOR: 'never', CARGO_TERM_PROGRESS_WHEN: 'never' };

const numbers = (version) => version.split('.').map(Number);

function isOlder(version, wanted) {
  const [a, b] = [numbers(version), numbers(wanted)];
  const at = b.findIndex((part, index) => (a[index] ?? 0) !== part);
  return at >= 0 && (a[at] ?? 0) < b[at];
}

let checked;

/**
 * Throws an error that names the missing program and its remedy if this machine cannot compile the
 * workspace. Checks once per process.
 */
function checkToolchain() {
  checked ??= (async () => {
    const [line = ''] = await run('cargo', ['--version'], { missing: HOW_TO_GET_RUST });
    const version = /^cargo (\d+\.\d+\.\d+)/.exec(line)?.[1];
    const wanted = /^rust-version = "([^"]+)"/m.exec(readFileSync(cargoManifest, 'utf8'))?.[1];
    if (version && wanted && isOlder(version, wanted)) {
      throw new BuildFailure(`Rust ${wanted} or newer is needed, and this is ${version}. Run \`rustup update stable\`.`);
    }
    await run('cc', ['--version'], { missing: HOW_TO_GET_A_LINKER });
  })();
  return checked;
}

/** Runs a cargo command on the workspace. Resolves with the lines of its stdout. */
export async function cargo([command, ...args], onLine) {
  await checkToolchain();
  return run('cargo', [command, '--manifest-path', cargoManifest, ...args], {
    onLine,
    env: environment,
    missing: HOW_TO_GET_RUST,
  });
}

/**
 * Runs the generator of `pnpm generate` in the profile `builder`, whose dependencies are compiled
 * already.
 */
export const runGenerator = (args, onLine) =>
  cargo(['run', '--locked', '--quiet', '--profile', 'builder', '-p', 'coldframe-codegen', '--', ...args], onLine);

const select = (packages) => packages.flatMap((name) => ['-p', name]);

/** Counts the crates that `packages` need, for the progress. */
async function countCrates(packages) {
  const lines = await cargo(['tree', '--locked', '-e', 'normal,build', '--prefix', 'none', ...select(packages)]);
  return new Set(lines.filter(Boolean).map((line) => line.replace(/ \(.*$/, ''))).size;
}

/**
 * Builds `packages` in `profile`. Resolves with the folder of the built files. `selection` replaces
 * the arguments that select `packages`.
 */
export async function cargoBuild({ packages, profile, report, selection = select(packages) }) {
  report('finding crates');
  const total = await countCrates(packages);
  let seen = 0;
  const onLine = (line) => {
    const [, verb, crate] = /^\s*(Downloading|Downloaded|Compiling|Blocking)\s+(\S+)/.exec(line) ?? [];
    if (verb === 'Blocking') report('waiting for another cargo');
    else if (verb === 'Compiling') report(`crate ${++seen} of at most ${total}: ${crate}`);
    else if (verb) report(`downloading ${crate}`);
  };
  await cargo(['build', '--locked', '--profile', profile, ...selection], onLine);
  return join(cargoTargetDir, profile);
}
