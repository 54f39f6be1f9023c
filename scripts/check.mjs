// `pnpm check`: formatting, lints and types of everything. `pnpm format` mends what can be mended by itself.

import { ensureBuilt, runMain } from './build.mjs';
import { checks } from './suites/checks.mjs';
import { runSuites } from './suites/report.mjs';

await runMain(async () => {
  await ensureBuilt(); // types of one package come from what another was compiled to
  if (!(await runSuites(checks))) process.exitCode = 1;
});
