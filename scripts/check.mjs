// `pnpm check`: checks formatting, lints, prose and types of the whole repository. `pnpm format`
// repairs the formatting.

import { ensureBuilt, runMain } from './build.mjs';
import { checks } from './suites/checks.mjs';
import { runSuites } from './suites/report.mjs';

await runMain(async () => {
  await ensureBuilt(); // checking types needs the built types of other packages
  if (!(await runSuites(checks))) process.exitCode = 1;
});
