// Where things lie, in the sandbox and on this machine.

import { fromRoot, stateDir } from '../build/paths.mjs';

/** The helpers of the tests name their fixtures by this path. */
export const GUEST_TESTS = '/test';

/** What is named from Node's sources (`test/fixtures/x`) is then found too. */
export const GUEST_ROOT = '/';

/** The folder for temporary files that the tests' helpers name. */
export const TEMPORARY = '/tmp/node-test';

export const stateFolder = `${stateDir}/conformance`;

export const reportPath = fromRoot('docs/conformance.json');
