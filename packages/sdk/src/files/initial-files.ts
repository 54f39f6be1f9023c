// Converts the initial files and the mounts of a runtime to messages. Small files are part of the
// message that creates the runtime. Large files are written by later requests.

import { posix, relative, resolve } from 'node:path';
import type { FileSystemMount } from '../options/file-system.js';
import type { Mount, NodeModulesMount } from '../options/mounts.js';
import type { FileSystemId, Mount as MountMessage } from '../protocol/generated/messages.js';
import { toBytes } from './contents.js';

/**
 * The largest total size of files and their paths, in bytes, in the message that creates a runtime:
 * a quarter of a frame.
 */
const MESSAGE_BYTES = 8 * 1024 * 1024;
/**
 * The largest number of files in the message that creates a runtime. The sidecar accepts 65,536
 * files.
 */
const MESSAGE_FILES = 16_384;

/** The working directory of a new runtime without the option `cwd`. */
export const DEFAULT_CWD = '/workspace';

/** The initial files in the message, and the initial files of later requests. */
export interface InitialFiles {
  message: Record<string, Uint8Array> | undefined;
  later: [string, Uint8Array][];
}

/**
 * Divides initial files between the message and later requests. The message that restores a
 * snapshot has no files.
 */
export function initialFilesOf(files: Readonly<Record<string, string | Uint8Array>> | undefined, isNew = true): InitialFiles {
  const later: [string, Uint8Array][] = [];
  if (files === undefined) return { message: undefined, later };
  if (!isNew) {
    const later = Object.entries(files).map(([path, data]): [string, Uint8Array] => [path, toBytes(data)]);
    return { message: undefined, later };
  }
  let [bytes, count] = [0, 0];
  // The object has no prototype, so that no path can name an inherited property.
  const message: Record<string, Uint8Array> = { __proto__: null as never };
  for (const path of Object.keys(files)) {
    const data = toBytes(files[path] as string | Uint8Array);
    const size = data.length + path.length;
    if (bytes + size > MESSAGE_BYTES || count === MESSAGE_FILES) {
      later.push([path, data]);
    } else {
      message[path] = data;
      bytes += size;
      count++;
    }
  }
  return { message, later };
}

/** The options that add mounts to the guest's tree. */
export interface MountOptions {
  mounts?: readonly (Mount | FileSystemMount)[];
  nodeModules?: string | NodeModulesMount;
  cwd?: string;
}

/** Returns the app file systems among the mounts, in the order of their numbers on the wire. */
export function fileSystemsOf({ mounts }: Pick<MountOptions, 'mounts'>): FileSystemMount[] {
  const isSystem = (mount: Mount | FileSystemMount): mount is FileSystemMount =>
    'fileSystem' in mount && mount.fileSystem !== undefined;
  return (mounts ?? []).filter(isSystem);
}

/**
 * Returns all mounts, `nodeModules` included, with outer mounts before inner mounts. Returns
 * `undefined` if neither option is set.
 */
export function mountsOf({ mounts, nodeModules, cwd = DEFAULT_CWD }: MountOptions): MountMessage[] | undefined {
  if (mounts === undefined && nodeModules === undefined) return undefined;
  const systems = fileSystemsOf(mounts === undefined ? {} : { mounts });
  const all: MountMessage[] = (mounts ?? []).map((mount) => {
    if ('fileSystem' in mount && mount.fileSystem !== undefined) {
      const { guestPath, readOnly = false } = mount;
      return { guestPath, hostPath: '', readOnly, fileSystem: systems.indexOf(mount) as FileSystemId };
    }
    const { guestPath, hostPath, readOnly = true, overlay = false } = mount as Mount;
    return { guestPath, hostPath: resolve(hostPath), readOnly, ...(overlay ? { readOnly: true, overlay } : {}) };
  });
  if (nodeModules !== undefined) {
    const modules: NodeModulesMount = typeof nodeModules === 'string' ? { hostPath: nodeModules } : nodeModules;
    const { hostPath, guestPath = `${cwd.replace(/\/+$/, '')}/node_modules`, roots = [] } = modules;
    all.push({ guestPath, hostPath: resolve(hostPath), readOnly: true });
    // A root is mounted where the text of a link leads in the guest, because Node's library follows
    // links by their text.
    for (const root of roots) {
      const target = posix.resolve(guestPath, relative(resolve(hostPath), resolve(root)));
      all.push({ guestPath: target, hostPath: resolve(root), readOnly: true });
    }
  }
  const depth = (path: string): number => path.split('/').filter(Boolean).length;
  return all.sort((one, other) => depth(one.guestPath) - depth(other.guestPath));
}
