// Checks a change without running the changed code: formatting and lints of both languages with
// warnings denied, prose, generated files, types. Also checks the links of the documentation site.

import { cargo, runGenerator } from '../build/cargo.mjs';
import { root } from '../build/paths.mjs';
import { run } from '../build/run.mjs';

const local = (name) => `${root}/node_modules/.bin/${name}`;

const check = (name, work) => ({
  name,
  run: async (print) => {
    await work(print);
    return { passed: 1, failed: 0 };
  },
});

const types = (project, print) => run(local('tsc'), ['-p', project, '--pretty', 'false'], { onLine: print });

// Clippy uses the profile `builder`, because the build has already compiled the dependencies in
// that profile.
/** The feature with the stand-in for an escaped guest, which no release has. */
export const STAND_IN = 'coldframe-sidecar/stand-in';

const clippy = ['clippy', '--locked', '--profile', 'builder', '--workspace', '--all-targets'];

export const checks = [
  check('biome', (print) => run(local('biome'), ['ci', '--error-on-warnings', '--colors=off', '.'], { onLine: print })),
  check('prose', (print) => run(process.execPath, ['scripts/prose.mjs'], { onLine: print })),
  check('generated files', (print) => runGenerator(['--check'], print)),
  check('types', (print) => types('tsconfig.tests.json', print)),
  check('types of the web page', (print) => types('packages/server/page', print)),
  check('types of the recipes', (print) => types('examples/recipes', print)),
  check('documentation site', (print) => run(process.execPath, ['packages/site/build.mjs', '--check'], { onLine: print })),
  check('rustfmt', (print) => cargo(['fmt', '--all', '--check'], print)),
  check('clippy', (print) => cargo([...clippy, '--features', STAND_IN, '--', '-D', 'warnings'], print)),
];
