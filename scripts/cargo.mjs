// `node scripts/cargo.mjs test -p coldframe-core`: runs cargo on the workspace as the build does,
// with the build's target folder. Commands that compile use the profile `builder`, whose
// dependencies the build has compiled already.

import { spawnSync } from 'node:child_process';
import { cargoManifest, cargoTargetDir, root } from './build/paths.mjs';

const WITH_PROFILE = new Set(['build', 'check', 'clippy', 'run', 'test']);

const [command = 'help', ...args] = process.argv.slice(2);
const choosesProfile = args.some((arg) => arg === '--release' || arg.startsWith('--profile'));
const profile = WITH_PROFILE.has(command) && !choosesProfile ? ['--profile', 'builder'] : [];
const manifest = command === 'help' ? [] : ['--manifest-path', cargoManifest];

const { status, error } = spawnSync('cargo', [command, ...manifest, ...profile, ...args], {
  cwd: root,
  env: { ...process.env, CARGO_TARGET_DIR: cargoTargetDir },
  stdio: 'inherit',
});
if (error) process.stderr.write(`${error.message}\n`);
process.exitCode = status ?? 1;
