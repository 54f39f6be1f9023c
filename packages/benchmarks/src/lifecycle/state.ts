// What a box holds while it is saved, copied, rolled back and put to sleep, and the questions that only one with exactly that state can answer.
//
// A live runner keeps a token, a secret number and buffers. A question multiplies the secret by other numbers each time and asks how many buffers
// there are: nothing can answer from a cache, from the image, or from another box. `look` reads one byte of every megabyte; it is asked after the
// first answer, outside the clock, because a first answer that touches a gigabyte measures page faults.

import { randomBytes, randomInt } from 'node:crypto';
import type { Snippet } from '../scenarios/snippet.js';

export const MEGABYTE = 2 ** 20;

export interface State {
  readonly token: string;
  secret: number;
  megabytes: number;
  /** Where the megabytes are: in buffers of the runner, or in files of the box, which are its kernel's. */
  where: 'buffers' | 'files';
}

export const makeState = (where: State['where'] = 'buffers'): State => ({
  token: randomBytes(6).toString('hex'),
  secret: randomInt(1, 1_000_000),
  megabytes: 0,
  where,
});

/** Each of these is a snippet like any other: what it prints is checked. */
export const plant = ({ token, secret }: State): Snippet => ({
  code: `globalThis.kept = { token: '${token}', secret: ${secret}, data: [] }; console.log('${token}');`,
  stdout: `${token}\n`,
});

/** Writes every byte of `megabytes` more, none of them zero. */
export function write(state: State, megabytes: number): Snippet {
  const from = state.megabytes;
  state.megabytes += megabytes;
  const buffer = `Buffer.alloc(${MEGABYTE}, ${byteOf('i', state.secret)})`;
  const [head, each] =
    state.where === 'buffers'
      ? ['', `kept.data.push(${buffer})`]
      : [FS, `{ const path = '/tmp/kept-' + i; fs.writeFileSync(path, ${buffer}); kept.data.push(path); }`];
  return {
    code: `${head}for (let i = ${from}; i < ${state.megabytes}; i++) ${each}; console.log(kept.data.length);`,
    stdout: `${state.megabytes}\n`,
  };
}

/** Makes another state of it, which a rollback has to undo. */
export function change(state: State, secret: number): Snippet {
  return { code: `kept.secret = ${secret}; console.log(kept.token, kept.secret);`, stdout: `${state.token} ${secret}\n` };
}

export function question({ token, secret, megabytes }: State): Snippet {
  const [a, b] = [randomInt(1, 1_000_000), randomInt(1, 1_000_000)];
  return {
    code: `console.log(kept.token, kept.secret * ${a} + ${b}, kept.data.length);`,
    stdout: `${token} ${secret * a + b} ${megabytes}\n`,
  };
}

export function look({ secret, megabytes, where }: State): Snippet {
  const offset = randomInt(0, MEGABYTE);
  let sum = 0;
  for (let i = 0; i < megabytes; i++) sum += ((i * 7 + secret) % 255) + 1;
  const [head, byte] = where === 'buffers' ? ['', `each[${offset}]`] : [FS + READ, `read(each, ${offset})`];
  return { code: `${head}let sum = 0; for (const each of kept.data) sum += ${byte}; console.log(sum);`, stdout: `${sum}\n` };
}

const FS = "import fs from 'node:fs';\n";
const READ = `const byte = Buffer.alloc(1);
const read = (path, at) => {
  const fd = fs.openSync(path);
  fs.readSync(fd, byte, 0, 1, at);
  fs.closeSync(fd);
  return byte[0];
};
`;

const byteOf = (index: string, secret: number): string => `(${index} * 7 + ${secret}) % 255 + 1`;
