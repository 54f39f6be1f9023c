// The command line of `pnpm conformance`.

import { parseArgs } from 'node:util';
import { BuildFailure } from '../build/failure.mjs';

export const USAGE = `usage: pnpm conformance --node-tests DIR [options]
  --node-tests DIR    a folder with Node's parallel/, common/ and fixtures/ (the folder test/ of Node's sources)
  --tests-version V   the release of the tests, if DIR is not in Node's sources
  --filter GROUP      run only groups (fs,net) or parts of file names (fs-read); may be repeated
  --jobs N            files at the same time (default 2)
  --timeout SECONDS   per file (default 20)
  --fresh             ignore stored results of this build
  --dev               build the sidecar without link-time optimization
  --ceiling-only      run only the real Node, to fill its cache
  --no-write          keep docs/conformance.json unchanged
  --summary FILE      write the results of each group, and its failing files, to FILE`;

const OPTIONS = {
  'node-tests': { type: 'string' },
  'tests-version': { type: 'string' },
  filter: { type: 'string', multiple: true, default: [] },
  jobs: { type: 'string', default: '2' },
  timeout: { type: 'string', default: '20' },
  fresh: { type: 'boolean', default: false },
  dev: { type: 'boolean', default: false },
  'ceiling-only': { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
  summary: { type: 'string' },
};

function wholeNumber(name, text) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new BuildFailure(`conformance: --${name}: expected a whole number from 1, received ${JSON.stringify(text)}\n${USAGE}`);
  return value;
}

export function readOptions(args) {
  let values;
  try {
    ({ values } = parseArgs({ args, options: OPTIONS }));
  } catch (error) {
    throw new BuildFailure(`conformance: ${error.message}\n${USAGE}`);
  }
  if (values['node-tests'] === undefined) throw new BuildFailure(`conformance: --node-tests is missing\n${USAGE}`);
  return {
    folder: values['node-tests'],
    testsVersion: values['tests-version'],
    filters: values.filter.flatMap((filter) => filter.split(',')).filter(Boolean),
    jobs: wholeNumber('jobs', values.jobs),
    timeoutMs: wholeNumber('timeout', values.timeout) * 1000,
    fresh: values.fresh,
    dev: values.dev,
    ceilingOnly: values['ceiling-only'],
    write: !values['no-write'],
    summary: values.summary,
  };
}
