// The command line of `pnpm e2b`.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BuildFailure } from '../build/failure.mjs';

export const USAGE = `usage: pnpm e2b --tests DIR [--interpreter DIR] [options]
       pnpm e2b --newest
  --tests DIR         the folder of E2B's repository
  --interpreter DIR   the folder of the repository of the code interpreter
  --suite NAME        run only this suite: js, python, interpreter-js, interpreter-python; may be repeated
  --filter TEXT       run only files whose path contains TEXT; may be repeated; writes no report
  --work DIR          the folder for copies of the suites and their packages (default: ~/.cache/coldframe/e2b)
  --newest            run a few calls of the newest packages of the registries instead
  --jobs N            files at the same time (default 2)
  --dev               build the sidecar without link-time optimization
  --no-write          keep docs/e2b-compatibility.json and its page unchanged`;

const OPTIONS = {
  tests: { type: 'string' },
  interpreter: { type: 'string' },
  suite: { type: 'string', multiple: true, default: [] },
  filter: { type: 'string', multiple: true, default: [] },
  work: { type: 'string', default: join(homedir(), '.cache/coldframe/e2b') },
  jobs: { type: 'string', default: '2' },
  newest: { type: 'boolean', default: false },
  dev: { type: 'boolean', default: false },
  'no-write': { type: 'boolean', default: false },
};

export function readOptions(args) {
  let values;
  try {
    ({ values } = parseArgs({ args, options: OPTIONS }));
  } catch (error) {
    throw new BuildFailure(`e2b: ${error.message}\n${USAGE}`);
  }
  if (!values.newest && values.tests === undefined && values.interpreter === undefined)
    throw new BuildFailure(`e2b: --tests is missing\n${USAGE}`);
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64)
    throw new BuildFailure(`e2b: --jobs: expected 1 to 64, received ${values.jobs}\n${USAGE}`);
  return { ...values, suites: values.suite, filters: values.filter, write: !values['no-write'], jobs };
}
