// `pnpm format`: formats TypeScript, JavaScript, JSON and Rust in place.

import { cargo } from './build/cargo.mjs';
import { root } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { runMain } from './build.mjs';

const print = (line) => process.stdout.write(`${line}\n`);

await runMain(async () => {
  await run(`${root}/node_modules/.bin/biome`, ['check', '--write', '--colors=off', '.'], { onLine: print });
  await cargo(['fmt', '--all'], print);
});
