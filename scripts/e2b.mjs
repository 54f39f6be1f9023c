// `pnpm e2b --tests DIR --interpreter DIR` runs the suites of E2B's clients against the server, and
// writes docs/e2b-compatibility.json and its page. The suites belong to E2B and are not part of
// this repository. Each suite runs twice: without a server, and with one. A test that passes
// without a server is an offline test.
//
// Next: e2b/suites.mjs (the suites), e2b/javascript.mjs and e2b/python.mjs (how a suite runs),
// e2b/report.mjs (counts), e2b/reasons.mjs (why a test fails), e2b/page.mjs.

import { mkdirSync } from 'node:fs';
import { fromRoot } from './build/paths.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { runNewest } from './e2b/newest.mjs';
import { readOptions } from './e2b/options.mjs';
import { writePage } from './e2b/page.mjs';
import { mergeReport, readReport, resultOf, writeReport } from './e2b/report.mjs';
import { startServer, WITHOUT_SERVER } from './e2b/server.mjs';
import { chosenSuites } from './e2b/suites.mjs';

const say = (line) => process.stderr.write(`${line}\n`);

async function main() {
  const options = readOptions(process.argv.slice(2));
  await ensureBuilt({ dev: options.dev, python: true });
  mkdirSync(options.work, { recursive: true });
  if (options.newest) {
    const newest = await runNewest(options.work);
    if (options.write) writeReport({ ...readReport(), newest });
    if (options.write) writePage();
    for (const { registry, name, version } of newest) say(`${name} ${version} (${registry}): passed`);
    return;
  }
  const results = [];
  for (const suite of chosenSuites(options)) {
    say(`${suite.name}: preparing`);
    const prepared = suite.prepare(options.work);
    say(`${suite.name}: without a server`);
    const offline = await prepared.run({ jobs: options.jobs, files: suite.files(options.filters), environment: WITHOUT_SERVER });
    const server = await startServer();
    try {
      say(`${suite.name}: with a server`);
      const live = await prepared.run({
        jobs: options.jobs,
        files: suite.files(options.filters),
        environment: server.environment,
      });
      const result = resultOf(suite, prepared.versions, offline, live);
      say(`${suite.name}: ${result.offline} offline, ${result.live.passed} of ${result.live.all} live`);
      results.push(result);
    } finally {
      await server.close();
    }
  }
  if (!options.write || options.filters.length > 0) return;
  writeReport(mergeReport(readReport(), results));
  writePage();
  say(`wrote ${fromRoot('docs/e2b-compatibility.md')}`);
}

runMain(main);
