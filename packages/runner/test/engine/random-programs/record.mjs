// Records the output of the unpatched engine for the programs of the ordinary test run, as digests,
// so that the run needs no second engine. After a change of the generator run `node
// packages/runner/test/engine/random-programs/record.mjs`.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { makeReference } from './engines.mjs';
import { generateProgram } from './generate.mjs';

const COUNT = 1000;
const DIGITS = 8;

export const shortDigest = (text) => createHash('sha256').update(text).digest('hex').slice(0, DIGITS);

if (process.argv[1]?.endsWith('record.mjs')) {
  const unpatched = await makeReference();
  const digests = Array.from({ length: COUNT }, (_, index) => shortDigest(unpatched(generateProgram(index + 1))));
  writeFileSync(new URL('recorded.json', import.meta.url), `${JSON.stringify({ firstSeed: 1, digests })}\n`);
}
