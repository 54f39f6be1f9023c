// Runs tests of single crates with cargo, for `pnpm test:one` and `pnpm test:quick`.

import { cargo } from '../build/cargo.mjs';

/**
 * Runs one call of names.mjs, with the profile of the build. `onLine` receives each line of the
 * output.
 */
export const runCargoTests = ({ crate, target, filters }, onLine) =>
  cargo(['test', '--locked', '--profile', 'builder', '-p', crate, ...target, '--', ...filters], onLine);
