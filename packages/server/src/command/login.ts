// `coldframe login`, `logout` and `whoami`: the stored URL and key of a server.

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Client } from '../client/index.js';
import { accountFile, checkedUrl, DEFAULT_URL, placeOf, removeAccount, writeAccount } from './account.js';
import { type CommandCall, CommandError, has, textOf } from './call.js';

/** Checks a key with the server, and stores the key. */
export async function login(call: CommandCall): Promise<number> {
  const url = checkedUrl(textOf(call, 'url') ?? DEFAULT_URL);
  const apiKey = (process.env['COLDFRAME_API_KEY'] || (await readKey(url))).trim();
  if (!/^[!-~]+$/.test(apiKey)) throw new CommandError('expected a key of printable characters without spaces');
  await new Client({ url, apiKey }).list();
  await writeAccount({ url, apiKey });
  console.log(`logged in at ${url}; the key is in ${accountFile()}`);
  return 0;
}

/** Removes the stored key. */
export async function logout(): Promise<number> {
  await removeAccount();
  console.log('logged out');
  return 0;
}

/** Prints the server, and whether the server accepts the key. */
export async function whoami(call: CommandCall): Promise<number> {
  const place = await placeOf(call);
  const sandboxes = await new Client(place).list();
  // The end of a key distinguishes two keys, and does not reveal a long key.
  const key = place.apiKey.length > 12 ? `...${place.apiKey.slice(-4)}` : '(short)';
  if (has(call, 'json')) console.log(JSON.stringify({ url: place.url, key, sandboxes: sandboxes.length }));
  else console.log(`${place.url} with the key ${key}: ${sandboxes.length} sandboxes`);
  return 0;
}

// Reads the key from stdin. At a terminal, the key is not shown.
async function readKey(url: string): Promise<string> {
  if (process.stdin.isTTY !== true) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }
  process.stdout.write(`key of ${url}: `);
  const silent = new Writable({ write: (_, __, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stdout.write('\n');
  }
}
