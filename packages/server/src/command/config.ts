// Reads the options of the server from a file of JSON: keys of tenants, quotas, sizes, webhooks.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ServerOptions } from '../options.js';
import { CommandError } from './call.js';

/** The options that a file can have. The command line has the others. */
const Config = ServerOptions.omit({ directory: true, domain: true, tls: true }).partial();

/** The options in a file. */
export type Config = z.output<typeof Config>;

const REMEDY = 'Pass the path of a JSON file with options of `createServer()`, such as `quotas`.';

/** Reads the file. Fails with {@link CommandError} for a file that is not such an object. */
export async function readConfig(path: string): Promise<Config> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`--config ${path}: ${(error as Error).message}`, REMEDY);
  }
  const parsed = Config.safeParse(json);
  if (!parsed.success) throw new CommandError(`--config ${path}: ${z.prettifyError(parsed.error)}`, REMEDY);
  return parsed.data;
}
