// The description of a file, as the clients' service of files has it.

import { posix } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FileStatus } from 'coldframe';
import { type EntryInfo, EntryInfoSchema, FileType } from '../generated/filesystem_pb.js';
import type { Sandbox } from '../sandboxes/sandbox.js';

const LINKS_MOST = 40;
const PERMISSIONS = 'rwxrwxrwx';
const NAMES: Readonly<Record<number, string | undefined>> = { 0: 'root', 1000: 'user' };

/** Describes the file, directory or link at `path`. Fails as `stat()`. */
export async function entryAt(sandbox: Sandbox, path: string): Promise<EntryInfo> {
  const { runtime } = sandbox;
  const own = await runtime.stat(path, { followSymlinks: false });
  const isLink = own.type === 'symlink';
  // A link without a target is described by itself.
  const status = isLink ? await runtime.stat(path).catch(() => own) : own;
  return create(EntryInfoSchema, {
    name: posix.basename(path) || '/',
    path,
    type: typeOf(status.type),
    size: BigInt(status.size),
    mode: status.mode & 0o7777,
    permissions: permissionsOf(own),
    owner: nameOf(status.uid),
    group: nameOf(status.gid),
    modifiedTime: timestampFromMs(Math.floor(status.mtimeMs)),
    metadata: sandbox.fileMetadata.get(path) ?? {},
    isSymlink: isLink,
    ...(isLink ? { symlinkTarget: await targetOf(sandbox, path) } : {}),
  });
}

/** Returns the absolute path behind a link, with all links resolved where possible. */
async function targetOf({ runtime }: Sandbox, path: string): Promise<string> {
  let at = path;
  for (let links = 0; links < LINKS_MOST; links++) {
    const target = await runtime.readlink(at).catch(() => undefined);
    if (target === undefined) return at;
    at = posix.resolve(posix.dirname(at), target);
  }
  return at;
}

// An owner without a name is described by the number.
const nameOf = (id: number): string => NAMES[id] ?? String(id);

function typeOf(type: FileStatus['type']): FileType {
  if (type === 'directory') return FileType.DIRECTORY;
  if (type === 'symlink') return FileType.SYMLINK;
  return FileType.FILE;
}

function permissionsOf({ type, mode }: FileStatus): string {
  const kind = type === 'directory' ? 'd' : type === 'symlink' ? 'L' : '-';
  return kind + [...PERMISSIONS].map((letter, at) => ((mode >> (8 - at)) & 1 ? letter : '-')).join('');
}
