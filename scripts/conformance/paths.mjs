// Paths in the sandbox and on this machine.

import { fromRoot, stateDir } from '../build/paths.mjs';

/** The path by which the helpers of the tests name their fixtures. */
export const GUEST_TESTS = '/test';

/**
 * The guest folder of the running files. Paths relative to Node's sources, such as
 * `test/fixtures/x`, also exist there.
 */
export const GUEST_RUNS = '/workspace/test';

/**
 * The working directory of the tests: as in Node's sources, a folder in which they may make files
 * and sockets.
 */
export const GUEST_ROOT = '/workspace';

/** The folder for temporary files that the tests' helpers name. */
export const TEMPORARY = '/tmp/node-test';

export const stateFolder = `${stateDir}/conformance`;

export const reportPath = fromRoot('docs/conformance.json');
