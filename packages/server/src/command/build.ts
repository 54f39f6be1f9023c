// `coldframe template build FOLDER --name NAME`: builds a template from the Dockerfile of a folder,
// over the routes that the clients of E2B use. The files of each COPY are sent as one archive,
// which the server keeps by the hash of its content.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, posix, relative, resolve, sep } from 'node:path';
import { type Client, ServerError } from '../client/index.js';
import { clientOf } from './account.js';
import { type CommandCall, CommandError, has, operandsOf, textOf } from './call.js';
import { type Dockerfile, parseDockerfile, type Step } from './dockerfile.js';
import { plain } from './text.js';

const POLL_MS = 200;
/** The lines of the log that one request returns. */
const LINES = 100;

interface Build {
  templateID: string;
  buildID: string;
}

interface Status {
  status: 'waiting' | 'building' | 'ready' | 'error';
  logEntries?: { message: string }[];
  reason?: { message: string };
}

/** Builds the template, prints the log of the build, and returns the exit code. */
export async function build(call: CommandCall): Promise<number> {
  const [folder = ''] = operandsOf(call, 'FOLDER');
  const name = textOf(call, 'name');
  if (name === undefined) throw new CommandError('coldframe template build: expected `--name NAME`');
  const file = textOf(call, 'file') ?? join(folder, 'Dockerfile');
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(error.message, 'Pass the path of a Dockerfile with `--file`.');
  });
  const dockerfile = parseDockerfile(text);
  const client = await clientOf(call);
  const made = await json<Build>(client, 'POST', '/v3/templates', { name, cpuCount: 1, memoryMB: 512 });
  const steps = await withFiles(client, made, dockerfile, resolve(folder));
  const body = { fromImage: dockerfile.from, steps, force: has(call, 'no-cache'), ...commandsOf(call, dockerfile) };
  await client.request('POST', `/v2/templates/${made.templateID}/builds/${made.buildID}`, body);
  return follow(client, made, has(call, 'json'));
}

function commandsOf(call: CommandCall, { startCmd }: Dockerfile): { startCmd?: string; readyCmd?: string } {
  const start = textOf(call, 'start') ?? startCmd;
  const ready = textOf(call, 'ready');
  return { ...(start === undefined ? {} : { startCmd: start }), ...(ready === undefined ? {} : { readyCmd: ready }) };
}

async function follow(client: Client, { templateID, buildID }: Build, isJson: boolean): Promise<number> {
  for (let seen = 0; ; ) {
    const path = `/templates/${templateID}/builds/${buildID}/status?logsOffset=${seen}&limit=${LINES}`;
    const { status, logEntries = [], reason } = await json<Status>(client, 'GET', path);
    seen += logEntries.length;
    if (!isJson) for (const { message } of logEntries) console.log(plain(message));
    if (logEntries.length === LINES) continue;
    if (status === 'ready') {
      console.log(isJson ? JSON.stringify({ templateID, buildID }) : templateID);
      return 0;
    }
    if (status === 'error') throw new ServerError(`the build failed: ${reason?.message ?? 'without a reason'}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function withFiles(client: Client, made: Build, { steps }: Dockerfile, folder: string) {
  const sent: (Step & { filesHash?: string })[] = [];
  for (const step of steps) {
    if (step.type !== 'COPY') sent.push(step);
    else sent.push({ ...step, filesHash: await sendFiles(client, made, folder, step) });
  }
  return sent;
}

async function sendFiles(client: Client, { templateID }: Build, folder: string, { args }: Step): Promise<string> {
  const [source = '', target = ''] = args;
  const root = resolve(folder, source);
  const inside = relative(folder, root);
  if (inside === '..' || inside.startsWith(`..${sep}`)) throw new CommandError(`COPY ${source}: the path is outside ${folder}`);
  const paths = await filesBelow(folder, inside);
  const hash = createHash('sha256').update(`COPY ${source} ${target}`);
  for (const path of paths) {
    const at = join(folder, path);
    const found = await lstat(at);
    hash.update(`\0${path}\0${found.mode & 0o7777}\0`);
    if (found.isSymbolicLink()) hash.update(await readlink(at));
    else if (found.isFile()) hash.update(await readFile(at));
  }
  const filesHash = hash.digest('hex');
  const { present, url } = await json<{ present: boolean; url?: string }>(
    client,
    'GET',
    `/templates/${templateID}/files/${filesHash}`,
  );
  if (present || url === undefined) return filesHash;
  const archive = await archiveOf(folder, paths);
  const response = await fetch(url, { method: 'PUT', body: archive });
  if (!response.ok) throw new ServerError(`the files of COPY ${source} were not accepted`, { status: response.status });
  return filesHash;
}

async function filesBelow(folder: string, inside: string): Promise<string[]> {
  const start = join(folder, inside);
  const found = await lstat(start).catch((error: Error) => {
    throw new CommandError(`COPY: ${error.message}`, 'Change the Dockerfile.');
  });
  if (!found.isDirectory()) return [inside];
  const names = (await readdir(start)).sort();
  const below = await Promise.all(names.map((name) => filesBelow(folder, join(inside, name))));
  return [inside === '' ? '.' : inside, ...below.flat()];
}

// GNU tar reads the names from its stdin, so that no name is taken for an option.
function archiveOf(folder: string, paths: readonly string[]): Promise<Buffer<ArrayBuffer>> {
  const names = paths.map((path) => posix.join('.', path.split(sep).join('/')));
  const options = ['-czf', '-', '-C', folder, '--no-recursion', '--null', '--verbatim-files-from', '-T', '-'];
  const child = spawn('tar', options, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  child.stdin.end(names.join('\0'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', (error) => reject(new CommandError(`tar: ${error.message}`, 'Install GNU tar.')));
    child.once('close', (code) =>
      code === 0 ? resolve(Buffer.concat(chunks)) : reject(new CommandError(`tar ended with the exit code ${code}`)),
    );
  });
}

async function json<T>(client: Client, method: string, path: string, body?: unknown): Promise<T> {
  return (await (await client.request(method, path, body)).json()) as T;
}
