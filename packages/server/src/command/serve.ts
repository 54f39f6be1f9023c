// `coldframe serve`: starts the server, and prints how clients connect.
//
// The server always has a key. Any web page and any user of this machine can reach a port of the
// loopback. Without an option, the key is made at the first start and stored in the data folder.
// Beyond the loopback, the caller must choose the key.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createServer } from '../server.js';
import { type CommandCall, CommandError, has, textOf, wholeOf } from './call.js';
import { readConfig } from './config.js';
import { isLoopback } from './loopback.js';

const PORT = 3_000;
/** The longest wait for open requests after a signal. */
const DRAIN_MS = 10_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Starts the server, and returns after a signal. */
export async function serve(call: CommandCall): Promise<number> {
  if (call.operands.length > 0) throw new CommandError('coldframe serve: expected no operands');
  const host = textOf(call, 'host') ?? '127.0.0.1';
  const port = wholeOf(call, 'port', 0, 65_535) ?? PORT;
  const directory = resolve(textOf(call, 'data') ?? dataFolder());
  const configFile = textOf(call, 'config');
  const config = configFile === undefined ? {} : await readConfig(configFile);
  const ofCommand = keysOf(call);
  const given = ofCommand.length > 0 ? ofCommand : (config.apiKeys ?? []);
  if (given.length === 0 && !isLoopback(host)) {
    throw new CommandError(
      `--host ${host} is beyond the loopback, and there is no key`,
      'Pass `--api-key KEY`, set COLDFRAME_API_KEY, or name `apiKeys` in the file of `--config`.',
    );
  }
  const domain = textOf(call, 'domain');
  const tls = await tlsOf(call);
  const apiKeys = given.length > 0 ? given : [{ key: await ownKey(directory) }];
  const stopped = signal();
  const server = await createServer({
    ...config,
    directory,
    apiKeys,
    ...(domain === undefined ? {} : { domain }),
    ...(tls === undefined ? {} : { tls }),
  });
  try {
    const address = await server.listen(port, host).catch((error: Error) => {
      throw new CommandError(`cannot listen at ${host}:${port}: ${error.message}`, 'Pass another `--port`, for example 0.');
    });
    const urls = urlsOf({ host, port: address.port, domain, isSecure: tls !== undefined });
    const key = given.length > 0 ? undefined : (apiKeys[0]?.key as string);
    if (has(call, 'json')) console.log(JSON.stringify({ ...urls, ...(key === undefined ? {} : { apiKey: key }), directory }));
    else console.log(introduction(urls, { key, directory, domain, port: address.port, isSecure: tls !== undefined }));
    await stopped;
  } finally {
    // A second signal, or the end of the time, ends the process at once.
    for (const name of SIGNALS) process.once(name, () => process.exit(1));
    setTimeout(() => process.exit(1), 2 * DRAIN_MS).unref();
    await server.drain(DRAIN_MS);
  }
  return 0;
}

const signal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const name of SIGNALS) process.once(name, () => resolve());
  });

function dataFolder(): string {
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'coldframe', 'serve');
}

// The list of processes shows the options of the command, and does not show the environment.
function keysOf(call: CommandCall): { key: string; tenant?: string }[] {
  const given = (call.flags.get('api-key') ?? []).map(String);
  const inEnvironment = process.env['COLDFRAME_API_KEY'];
  const keys = given.length > 0 ? given : inEnvironment ? [inEnvironment] : [];
  for (const key of keys) {
    if (!/^[!-~]+$/.test(key)) throw new CommandError('--api-key: expected printable characters without spaces');
  }
  return keys.map((key) => ({ key }));
}

async function ownKey(directory: string): Promise<string> {
  const path = join(directory, 'api-key');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    // Older clients accept only keys of this form.
    await writeFile(path, `e2b_${randomBytes(20).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await chmod(path, 0o600);
  }
  return (await readFile(path, 'utf8')).trim();
}

async function tlsOf(call: CommandCall): Promise<{ cert: string; key: string } | undefined> {
  const [cert, key, domain] = [textOf(call, 'cert'), textOf(call, 'key'), textOf(call, 'domain')];
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new CommandError('expected both `--cert FILE` and `--key FILE`');
  if (domain === undefined) throw new CommandError('`--cert` needs `--domain DOMAIN`: the certificate is for *.DOMAIN');
  const read = (path: string): Promise<string> =>
    readFile(path, 'utf8').catch((error: Error) => {
      throw new CommandError(error.message, 'Pass the path of a PEM file that this user can read.');
    });
  return { cert: await read(cert), key: await read(key) };
}

interface Urls {
  apiUrl: string;
  pageUrl: string;
  mcpUrl: string;
}

function urlsOf(options: { host: string; port: number; domain: string | undefined; isSecure: boolean }): Urls {
  const { host, port, domain, isSecure } = options;
  const anywhere = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const name = isSecure && domain !== undefined ? `api.${domain}` : anywhere.includes(':') ? `[${anywhere}]` : anywhere;
  const apiUrl = `${isSecure ? 'https' : 'http'}://${name}:${port}`;
  return { apiUrl, pageUrl: `${apiUrl}/ui/`, mcpUrl: `${apiUrl}/mcp` };
}

function introduction(
  { apiUrl, pageUrl, mcpUrl }: Urls,
  options: { key: string | undefined; directory: string; domain: string | undefined; port: number; isSecure: boolean },
): string {
  const { key, directory, domain, port, isSecure } = options;
  const sandboxUrl = isSecure && domain !== undefined ? `E2B_DOMAIN=${domain}:${port}` : `E2B_SANDBOX_URL=${apiUrl}`;
  return [
    `coldframe serve: ${apiUrl}, data in ${directory}`,
    '',
    'Clients of E2B connect with these variables:',
    '',
    `  export E2B_API_URL=${apiUrl}`,
    `  export ${sandboxUrl}`,
    `  export E2B_API_KEY=${key ?? '...'}${key === undefined ? '   # the key of --api-key' : ''}`,
    '',
    `page:    ${pageUrl}`,
    `MCP:     ${mcpUrl}`,
    `command: coldframe login --url ${apiUrl}`,
  ].join('\n');
}
