// `pnpm bench:NAME`: builds what is missing, then runs the command of `packages/benchmarks` with
// the given arguments. Paths in the arguments are relative to the folder in which the command was
// typed. `packages/benchmarks/src/benchmarks.ts` lists the names of the benchmarks.

import { pathToFileURL } from 'node:url';
import { fromRoot } from './build/paths.mjs';
import { ensureBuilt, runMain } from './build.mjs';

await runMain(async () => {
  await ensureBuilt({ python: process.argv[2] === 'python' });
  const file = fromRoot('packages/benchmarks/dist/main.js');
  process.chdir(process.env.INIT_CWD ?? process.cwd());
  process.argv.splice(1, 1, file);
  await import(pathToFileURL(file).href);
});
