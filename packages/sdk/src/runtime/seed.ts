// What a runtime finds when it begins, as its creation's message has it: small files travel in that message, large ones after it.

import { posix, relative, resolve } from 'node:path';
import type { WireMount } from '../channel/messages.js';
import type { FileSystemMount } from '../file-systems/types.js';
import type { Mount, NodeRuntimeOptions } from '../options/types.js';
import { toBytes } from './files.js';

// Bytes of files in the message that creates a runtime; a frame holds four times as much.
const MESSAGE_BYTES = 8 * 1024 * 1024;
// Entries in it; the sidecar takes 65,536.
const MESSAGE_FILES = 16_384;

/** The working directory of a runtime that is not given one. */
export const DEFAULT_CWD = '/workspace';

/** Files of a runtime's options: those for the message, and the rest. */
export interface Seed {
  files: Record<string, Uint8Array> | undefined;
  later: [string, Uint8Array][];
}

/** Sorts the files by how they travel. */
export function seedOf(files: NodeRuntimeOptions['files']): Seed {
  const seed: Seed = { files: undefined, later: [] };
  if (files === undefined) return seed;
  let [bytes, count] = [0, 0];
  // `__proto__: null`: a path is never one of an object's own names.
  const message: Record<string, Uint8Array> = { __proto__: null as never };
  for (const path of Object.keys(files)) {
    const data = toBytes(files[path] as string | Uint8Array);
    const size = data.length + path.length;
    if (bytes + size > MESSAGE_BYTES || count === MESSAGE_FILES) {
      seed.later.push([path, data]);
    } else {
      message[path] = data;
      bytes += size;
      count++;
    }
  }
  seed.files = message;
  return seed;
}

/** The mounts that are file systems of the app's, in the order of their numbers. */
export function fileSystemsOf({ mounts }: Pick<NodeRuntimeOptions, 'mounts'>): FileSystemMount[] {
  const isSystem = (mount: Mount | FileSystemMount): mount is FileSystemMount =>
    'fileSystem' in mount && mount.fileSystem !== undefined;
  return (mounts ?? []).filter(isSystem);
}

/** All mounts, `nodeModules` among them; outer ones before those inside them. */
export function mountsOf({ mounts, nodeModules, cwd = DEFAULT_CWD }: NodeRuntimeOptions): WireMount[] | undefined {
  if (mounts === undefined && nodeModules === undefined) return undefined;
  const systems = fileSystemsOf({ mounts });
  const all: WireMount[] = (mounts ?? []).map((mount) => {
    if ('fileSystem' in mount && mount.fileSystem !== undefined) {
      const { guestPath, readOnly = false } = mount;
      return { guestPath, hostPath: '', readOnly, fileSystem: systems.indexOf(mount) };
    }
    const { guestPath, hostPath, readOnly = true, overlay = false } = mount as Mount;
    return { guestPath, hostPath: resolve(hostPath), readOnly, ...(overlay ? { readOnly: true, overlay } : {}) };
  });
  if (nodeModules !== undefined) {
    const given: { hostPath: string; guestPath?: string; roots?: readonly string[] } =
      typeof nodeModules === 'string' ? { hostPath: nodeModules } : nodeModules;
    const { hostPath, guestPath = `${cwd.replace(/\/+$/, '')}/node_modules`, roots = [] } = given;
    all.push({ guestPath, hostPath: resolve(hostPath), readOnly: true });
    // Where the text of a link leads in the guest: Node's library follows links by their text.
    for (const root of roots) {
      const place = posix.resolve(guestPath, relative(resolve(hostPath), resolve(root)));
      all.push({ guestPath: place, hostPath: resolve(root), readOnly: true });
    }
  }
  const depth = (path: string): number => path.split('/').filter(Boolean).length;
  return all.sort((one, other) => depth(one.guestPath) - depth(other.guestPath));
}
