// Where things lie, in the sandbox and on this machine.

import { fromRoot, stateDir } from '../build/paths.mjs';

/** The helpers of the tests name their fixtures by this path. */
export const GUEST_TESTS = '/test';

/** Where the files run from: what is named from Node's sources (`test/fixtures/x`) is then found as well. */
export const GUEST_RUNS = '/workspace/test';

/** Where the tests run: as in Node's sources, a folder in which they may make files and sockets. */
export const GUEST_ROOT = '/workspace';

/** The folder for temporary files that the tests' helpers name. */
export const TEMPORARY = '/tmp/node-test';

export const stateFolder = `${stateDir}/conformance`;

export const reportPath = fromRoot('docs/conformance.json');
