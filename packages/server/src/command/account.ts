// The server that the command talks to, and its key. The environment decides before the file that
// `coldframe login` writes. Only the user can read the file.

import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Client, type Place } from '../client/index.js';
import { type CommandCall, CommandError, textOf } from './call.js';

/** The URL of a server that `coldframe serve` starts without options. */
export const DEFAULT_URL = 'http://127.0.0.1:3000';

const Account = z.object({ url: z.string(), apiKey: z.string() });

/** Returns the path of the file with the URL and the key. */
export function accountFile(): string {
  return join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'coldframe', 'server.json');
}

/** Returns the URL and the key that `coldframe login` stored. */
export async function readAccount(): Promise<Place | undefined> {
  const path = accountFile();
  try {
    return Account.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${path} cannot be read`, 'Run `coldframe login` again.');
  }
}

/** Stores the URL and the key. Replaces the file at once. */
export async function writeAccount(place: Place): Promise<void> {
  const path = accountFile();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, `${JSON.stringify(place, null, 2)}\n`, { mode: 0o600 });
  await rename(fresh, path);
}

/** Removes the stored URL and key. */
export const removeAccount = (): Promise<void> => rm(accountFile(), { force: true });

/** Returns a URL without a path. @throws {CommandError} for a URL that is not of HTTP */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new CommandError(`expected a URL such as ${DEFAULT_URL}, received ${JSON.stringify(text)}`);
}

/**
 * Returns the place of the server: the URL of the option, of COLDFRAME_API_URL, of E2B_API_URL, of
 * `coldframe login`, or the default. A stored key is only sent to its own server.
 */
export async function placeOf(call: CommandCall): Promise<Place> {
  const { COLDFRAME_API_URL, COLDFRAME_API_KEY, E2B_API_URL, E2B_API_KEY } = process.env;
  const account = await readAccount();
  const given = textOf(call, 'url') ?? (COLDFRAME_API_URL || E2B_API_URL || account?.url) ?? DEFAULT_URL;
  const url = checkedUrl(given);
  const ofE2b = E2B_API_URL && checkedUrl(E2B_API_URL) === url ? E2B_API_KEY : undefined;
  const ofAccount = account?.url === url ? account.apiKey : undefined;
  return { url, apiKey: COLDFRAME_API_KEY || ofE2b || ofAccount || '' };
}

/** Returns a client of the server. */
export const clientOf = async (call: CommandCall): Promise<Client> => new Client(await placeOf(call));
