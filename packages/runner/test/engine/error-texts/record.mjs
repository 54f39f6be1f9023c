// Writes recorded.json: the message of the running Node for each case. Run `node
// packages/runner/test/engine/error-texts/record.mjs` with the pinned Node.
import { writeFileSync } from 'node:fs';
import vm from 'node:vm';
import { cases } from './cases.mjs';

const PINNED = 'v24.21.0';
if (process.version !== PINNED) throw new Error(`recorded with Node ${PINNED} only; this is ${process.version}`);

function sayOf(source) {
  try {
    vm.runInNewContext(source, {}, { filename: 'case.js' });
    return 'no error';
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

const lines = cases.map((source) => `  ${JSON.stringify([source, sayOf(source)])}`);
writeFileSync(new URL('recorded.json', import.meta.url), `[\n${lines.join(',\n')}\n]\n`);
