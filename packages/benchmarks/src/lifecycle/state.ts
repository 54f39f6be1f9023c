// The state that a runtime keeps during snapshots, clones, rollbacks and pauses, and the probes of
// this state.
//
// A resident runner keeps a token, a secret number and megabytes of data. A probe multiplies the
// secret by new numbers each time. So no reply can come from a cache, from the image or from
// another runtime. The probe of the memory reads one byte of every megabyte. This probe follows the
// first reply and is not timed, because the time of reading a gigabyte would be the time of page
// faults.

import { randomBytes, randomInt } from 'node:crypto';
import type { Snippet } from '../sandbox/snippet.js';

export const MEGABYTE = 2 ** 20;

export interface State {
  readonly token: string;
  secret: number;
  megabytes: number;
  /** The place of the megabytes: in buffers of the runner, or in files of the runtime. */
  where: 'buffers' | 'files';
}

export const makeState = (where: State['where'] = 'buffers'): State => ({
  token: randomBytes(6).toString('hex'),
  secret: randomInt(1, 1_000_000),
  megabytes: 0,
  where,
});

/** Makes the snippet that sets the state of a runner. */
export const plantState = ({ token, secret }: State): Snippet => ({
  code: `globalThis.kept = { token: '${token}', secret: ${secret}, data: [] }; console.log('${token}');`,
  stdout: `${token}\n`,
});

/** Makes the snippet that writes `megabytes` additional megabytes. No byte is zero. */
export function writeMegabytes(state: State, megabytes: number): Snippet {
  const from = state.megabytes;
  state.megabytes += megabytes;
  const buffer = `Buffer.alloc(${MEGABYTE}, ${byteOf('i', state.secret)})`;
  const [head, each] =
    state.where === 'buffers'
      ? ['', `kept.data.push(${buffer})`]
      : [IMPORT_FS, `{ const path = '/tmp/kept-' + i; fs.writeFileSync(path, ${buffer}); kept.data.push(path); }`];
  return {
    code: `${head}for (let i = ${from}; i < ${state.megabytes}; i++) ${each}; console.log(kept.data.length);`,
    stdout: `${state.megabytes}\n`,
  };
}

/** Makes the snippet that changes the secret in the runner. A rollback must undo the change. */
export function changeSecret(state: State, secret: number): Snippet {
  return { code: `kept.secret = ${secret}; console.log(kept.token, kept.secret);`, stdout: `${state.token} ${secret}\n` };
}

/** Makes the probe of the token, the secret, and the number of megabytes. */
export function stateQuestion({ token, secret, megabytes }: State): Snippet {
  const [a, b] = [randomInt(1, 1_000_000), randomInt(1, 1_000_000)];
  return {
    code: `console.log(kept.token, kept.secret * ${a} + ${b}, kept.data.length);`,
    stdout: `${token} ${secret * a + b} ${megabytes}\n`,
  };
}

/** Makes the probe of one byte of every megabyte. */
export function memoryQuestion({ secret, megabytes, where }: State): Snippet {
  const offset = randomInt(0, MEGABYTE);
  let sum = 0;
  for (let i = 0; i < megabytes; i++) sum += ((i * 7 + secret) % 255) + 1;
  const [head, byte] = where === 'buffers' ? ['', `each[${offset}]`] : [IMPORT_FS + READ, `read(each, ${offset})`];
  return { code: `${head}let sum = 0; for (const each of kept.data) sum += ${byte}; console.log(sum);`, stdout: `${sum}\n` };
}

const IMPORT_FS = "import fs from 'node:fs';\n";
const READ = `const byte = Buffer.alloc(1);
const read = (path, at) => {
  const fd = fs.openSync(path);
  fs.readSync(fd, byte, 0, 1, at);
  fs.closeSync(fd);
  return byte[0];
};
`;

const byteOf = (index: string, secret: number): string => `(${index} * 7 + ${secret}) % 255 + 1`;
