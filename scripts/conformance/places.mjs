// Where things lie, in the sandbox and on this machine.

import { fromRoot, stateDir } from '../build/paths.mjs';

/** Node's sources have their tests in `test/`, and some files name others from there: the sandbox sees the same layout. */
export const GUEST_ROOT = '/node';
export const GUEST_TESTS = `${GUEST_ROOT}/test`;

/** The folder for temporary files that the tests' helpers name. */
export const TEMPORARY = '/tmp/node-test';

export const stateFolder = `${stateDir}/conformance`;

export const reportPath = fromRoot('docs/conformance.json');
