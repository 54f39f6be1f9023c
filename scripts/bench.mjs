// `pnpm bench:coldstart`, `bench:compare`, `bench:micro`, `bench:userland`, `bench:kernel`,
// `bench:lifecycle`, `bench:density`, `bench:pool`: builds everything that is missing, then runs
// the command of packages/benchmarks with all arguments. Paths are relative to the folder of the
// command.

import { pathToFileURL } from 'node:url';
import { BuildFailure } from './build/failure.mjs';
import { fromRoot } from './build/paths.mjs';
import { ensureBuilt, runMain } from './build.mjs';

const known = ['coldstart', 'compare', 'micro', 'userland', 'kernel', 'lifecycle', 'density', 'pool'];

await runMain(async () => {
  const [, , name = '', ...args] = process.argv;
  if (!known.includes(name))
    throw new BuildFailure(`bench: expected one of ${known.join(', ')}, received ${JSON.stringify(name)}`);
  await ensureBuilt();
  const file = fromRoot('packages/benchmarks/dist/cli', `${name}.js`);
  process.chdir(process.env.INIT_CWD ?? process.cwd());
  process.argv = [process.argv[0], file, ...args];
  await import(pathToFileURL(file).href);
});
