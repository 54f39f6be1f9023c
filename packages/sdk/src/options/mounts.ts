// Options that place files of the host machine, or of the app, in the guest's tree.
// `files/initial-files.ts` converts the checked mounts to messages.

import type { FileSystemMount } from './file-system.js';
import { type Fault, FLAG, guestPath, HOST_FOLDER, isObject, listOf, type Rule, rule, TIMEOUT_MS } from './rule.js';
import { known, type OptionTable, objectWith, required } from './table.js';

/** A folder of the host machine in the guest's tree. */
export interface Mount {
  /**
   * An absolute guest path. Missing parent directories are made. The runtime's own files at the
   * path are hidden.
   */
  guestPath: string;
  /**
   * The folder. A relative path is resolved against the working directory of this process. A link
   * in the folder is followed only if its target is mounted too.
   */
  hostPath: string;
  /** Whether programs cannot change the folder. @default true */
  readOnly?: boolean | undefined;
  /**
   * Whether programs may change their view of the folder while the folder itself is never written.
   * The changes are stored in the runtime's memory and count towards `limits.filesystemBytes`. With
   * `overlay`, `readOnly` is ignored.
   * @default false
   */
  overlay?: boolean | undefined;
}

/**
 * A `node_modules` folder of the host machine, and the folders that contain the targets of its
 * links.
 */
export interface NodeModulesMount {
  hostPath: string;
  guestPath?: string | undefined;
  roots?: readonly string[] | undefined;
}

const hasMethods = (value: unknown): boolean =>
  isObject(value) && ['stat', 'readDir', 'read'].every((name) => typeof value[name] === 'function');

const MOUNT: OptionTable<Mount & FileSystemMount> = {
  guestPath: known(required(guestPath('/workspace/data')), ['target', 'destination']),
  hostPath: known(HOST_FOLDER, ['source']),
  fileSystem: rule(hasMethods, 'a FileSystem: an object with stat, readDir and read'),
  readOnly: known(FLAG, ['readonly']),
  overlay: FLAG,
  timeout: TIMEOUT_MS,
};

function oneKind(mount: Readonly<Record<string, unknown>>): Fault | undefined {
  const { hostPath, fileSystem, overlay, timeout } = mount;
  const isFolder = hostPath !== undefined && fileSystem === undefined && timeout === undefined;
  const isFileSystem = hostPath === undefined && fileSystem !== undefined && overlay === undefined;
  if (isFolder || isFileSystem) return undefined;
  return { path: [], expected: 'hostPath (and overlay), or fileSystem (and timeout)', received: mount };
}

/** Accepts mounts. */
export const MOUNTS = listOf(
  objectWith(MOUNT, 'an object with a mount', oneKind),
  'a list of mounts: { guestPath, hostPath, readOnly?, overlay? } or { guestPath, fileSystem, readOnly?, timeout? }',
);

const MODULES: OptionTable<NodeModulesMount> = {
  hostPath: required(HOST_FOLDER),
  guestPath: guestPath('/workspace/node_modules'),
  roots: listOf(HOST_FOLDER, 'a list of folders of this machine'),
};
const MODULES_OBJECT = objectWith(MODULES);

/** Accepts a `node_modules` folder. */
export const NODE_MODULES: Rule = {
  ...rule(
    (value) => HOST_FOLDER.fault(value) === undefined || MODULES_OBJECT.fault(value) === undefined,
    'a folder of this machine, or { hostPath, guestPath?, roots? }',
  ),
  inner: MODULES_OBJECT.inner,
};
