// `pnpm quickstart [FILE]`: builds everything that is missing, runs FILE (or
// examples/first-program.mjs) in the four modes, and prints the outputs and the times. The modes
// are in quickstart/modes.mjs.

import { parseArgs } from 'node:util';
import { BuildFailure } from './build/failure.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { measureNode } from './quickstart/floor.mjs';
import { readProgram } from './quickstart/program.mjs';
import { show, showTimings } from './quickstart/show.mjs';

const HELP = 'quickstart [FILE]   runs FILE, an ES module, in the four modes (default: examples/first-program.mjs)';

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
    if (positionals.length > 1) throw new TypeError(`Expected at most one FILE, received ${positionals.length}`);
    return { help: values.help, file: positionals[0] };
  } catch (error) {
    throw new BuildFailure(`${error.message}\n${HELP}`);
  }
}

await runMain(async () => {
  const { help, file } = readArguments();
  if (help) return process.stdout.write(`${HELP}\n`);
  const program = readProgram(file);
  await ensureBuilt();
  const { modes } = await import('./quickstart/modes.mjs'); // imports the files that were just built
  const { runInMode } = await import('./quickstart/run.mjs');
  const results = [];
  for (const mode of modes) {
    const result = await runInMode(mode, program.code);
    show(program, mode, result, results);
    results.push(result);
  }
  showTimings(results, await measureNode());
  process.exitCode = results.find((result) => result.exitCode !== 0)?.exitCode ?? 0;
});
