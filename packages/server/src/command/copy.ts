// `coldframe sandbox cp SOURCE TARGET`: copies files between this machine and a sandbox. A path of
// a sandbox is written as `ID:PATH`.
//
// Names of files come from the sandbox, which is hostile. A name becomes the name of a local file
// only if it is one name, and links of the sandbox are not followed or copied.

import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Agent, FileEntry } from '../client/index.js';
import { ServerError } from '../client/index.js';
import { clientOf } from './account.js';
import { type CommandCall, CommandError, has, operandsOf } from './call.js';

const REMOTE = /^(i[a-z0-9]{20,}(?:-[a-z0-9]+)?):(.*)$/s;

/** Copies a file, or with `--recursive` a directory. */
export async function copy(call: CommandCall): Promise<number> {
  const [source = '', target = ''] = operandsOf(call, 'SOURCE', 'TARGET');
  const [from, to] = [REMOTE.exec(source), REMOTE.exec(target)];
  if ((from === null) === (to === null)) throw new CommandError('coldframe sandbox cp: expected one path as ID:PATH');
  const [, id = '', path = ''] = (from ?? to) as RegExpExecArray;
  const client = await clientOf(call);
  const agent = client.agent(await client.get(id));
  const isRecursive = has(call, 'recursive');
  if (from !== null) await download(agent, path, target, isRecursive);
  else await upload(agent, source, path, isRecursive);
  return 0;
}

async function download(agent: Agent, path: string, target: string, isRecursive: boolean): Promise<void> {
  if (target === '-') {
    await pipeline(bodyOf(await agent.read(path)), process.stdout, { end: false });
    return;
  }
  const entry = await agent.stat(path);
  const isFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const to = isFolder ? join(target, checkedName(posix.basename(entry.path))) : target;
  if (entry.type === 'directory' && !isRecursive) throw new CommandError(`${path} is a directory`, 'Pass `--recursive`.');
  await downloadEntry(agent, entry, to);
}

async function downloadEntry(agent: Agent, entry: FileEntry, to: string): Promise<void> {
  if (entry.symlinkTarget !== undefined || entry.type === 'symlink') return;
  if (entry.type === 'file') {
    await pipeline(bodyOf(await agent.read(entry.path)), createWriteStream(to));
    return;
  }
  await mkdir(to, { recursive: true });
  for (const child of await agent.listDir(entry.path)) await downloadEntry(agent, child, join(to, checkedName(child.name)));
}

function checkedName(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)) return name;
  throw new CommandError(`the sandbox has a file with the name ${JSON.stringify(name)}`, 'Name the file of the target.');
}

async function upload(agent: Agent, source: string, path: string, isRecursive: boolean): Promise<void> {
  if (source === '-') return agent.write(path, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>);
  const found = await stat(source).catch((error: Error) => {
    throw new CommandError(error.message, 'Pass the path of a file that this user can read, or `-` for stdin.');
  });
  if (found.isDirectory() && !isRecursive) throw new CommandError(`${source} is a directory`, 'Pass `--recursive`.');
  const isFolder =
    path === '' ||
    path.endsWith('/') ||
    (await agent.stat(path).then(
      ({ type }) => type === 'directory',
      (error: unknown) => {
        if (error instanceof ServerError && error.status === 404) return false;
        throw error;
      },
    ));
  await uploadEntry(agent, source, isFolder ? posix.join(path, basename(source)) : path);
}

async function uploadEntry(agent: Agent, from: string, path: string): Promise<void> {
  // `stat` of the first entry has resolved its link. Links below are not followed.
  const found = await lstat(from).then((own) => (own.isSymbolicLink() ? stat(from) : own));
  if (!found.isDirectory()) {
    return agent.write(path, Readable.toWeb(createReadStream(from)) as ReadableStream<Uint8Array>);
  }
  for (const child of await readdir(from, { withFileTypes: true })) {
    if (child.isFile() || child.isDirectory()) await uploadEntry(agent, join(from, child.name), posix.join(path, child.name));
  }
}

const bodyOf = ({ body }: Response): Readable =>
  body === null ? Readable.from([]) : Readable.fromWeb(body as unknown as ReadableStream<Uint8Array>);
