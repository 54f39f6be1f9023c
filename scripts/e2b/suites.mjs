// The suites of E2B's clients, and the folders of their packages.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareJavaScript } from './javascript.mjs';
import { preparePython } from './python.mjs';

const isolated = { environment: 'node', globals: false, isolate: true, deps: { interopDefault: true } };

// The projects of the clients' own configurations, without the browser.
const CLIENT_PROJECTS = [
  {
    test: {
      ...isolated,
      name: 'unit',
      include: ['tests/**/*.test.ts'],
      exclude: ['tests/runtimes/**', 'tests/template/**', 'tests/bundle/**', 'tests/connectionConfig.test.ts'],
      testTimeout: 30_000,
      setupFiles: ['tests/globalFetchFallback.setup.ts'],
    },
  },
  {
    test: {
      ...isolated,
      name: 'template',
      include: ['tests/template/**/*.test.ts'],
      testTimeout: 180_000,
      setupFiles: ['tests/globalFetchFallback.setup.ts'],
    },
  },
  { test: { ...isolated, name: 'connectionConfig', include: ['tests/connectionConfig.test.ts'], testTimeout: 10_000 } },
];
const INTERPRETER_PROJECTS = [
  { test: { ...isolated, name: 'unit', include: ['tests/**/*.test.ts'], exclude: ['tests/runtimes/**'], testTimeout: 30_000 } },
];

// The interpreter's package accepts later clients, which lack a parameter that the package uses.
const INTERPRETER_CLIENT = 'e2b==2.45.1';

const SUITES = [
  {
    name: 'js',
    title: 'JavaScript client',
    from: 'tests',
    prepare: (work, folder) => prepareJavaScript(join(work, 'js'), join(folder, 'packages/js-sdk'), CLIENT_PROJECTS),
  },
  {
    name: 'python',
    title: 'Python client',
    from: 'tests',
    prepare: (work, folder) => preparePython(join(work, 'python'), join(folder, 'packages/python-sdk')),
    isPython: true,
  },
  {
    name: 'interpreter-js',
    title: 'JavaScript interpreter',
    from: 'interpreter',
    prepare: (work, folder) => prepareJavaScript(join(work, 'interpreter-js'), join(folder, 'js'), INTERPRETER_PROJECTS),
  },
  {
    name: 'interpreter-python',
    title: 'Python interpreter',
    from: 'interpreter',
    prepare: (work, folder) => preparePython(join(work, 'interpreter-python'), join(folder, 'python'), [INTERPRETER_CLIENT]),
    isPython: true,
  },
];

/** Returns the suites that the command line selects. */
export function chosenSuites(options) {
  return SUITES.filter(
    ({ name, from }) => options[from] !== undefined && (options.suites.length === 0 || options.suites.includes(name)),
  ).map((suite) => {
    const folder = options[suite.from];
    return {
      ...suite,
      prepare: (work) => suite.prepare(work, folder),
      // vitest selects files by a part of their path, and pytest by the whole path.
      files: (filters) => (suite.isPython ? pythonFiles(join(options.work, suite.name), filters) : filters),
    };
  });
}

function pythonFiles(folder, filters) {
  const all = readdirSync(join(folder, 'tests'), { recursive: true }).map((name) => join('tests', name));
  const files = all.filter((name) => /(^|\/)test_[^/]*\.py$/.test(name)).sort();
  return filters.length === 0 ? ['tests'] : files.filter((name) => filters.some((filter) => name.includes(filter)));
}
