// Mounts of secure-exec 0.2.21: a path with the description of a plugin. One plugin exists here,
// the folder of the host machine. `ownMounts` converts mounts to mounts of the SDK.

import type { Mount } from '../index.js';
import { FLAG, guestPath, HOST_FOLDER, listOf, oneOf } from '../options/rule.js';
import { type OptionTable, objectWith, required } from '../options/table.js';
import { without } from './rules.js';

const PLUGIN = 'host_dir';
/** The home of the user that secure-exec runs programs as. */
const HOME = '/root';

/** The description of a folder of the host machine. */
export interface HostDirBackend {
  id: typeof PLUGIN;
  config: { hostPath: string; readOnly: boolean };
}

/** A folder of the host machine at a guest path. */
export interface MountConfig {
  path: string;
  plugin: HostDirBackend;
  /** Whether programs cannot change the folder. @default true */
  readOnly?: boolean | undefined;
}

/** Describes a folder of the host machine, read-only unless `readOnly` is `false`. */
export function createHostDirBackend(options: { hostPath: string; readOnly?: boolean | undefined }): HostDirBackend {
  return { id: PLUGIN, config: { hostPath: options.hostPath, readOnly: options.readOnly ?? true } };
}

/** Mounts a folder of the host machine at `path`, read-only unless `readOnly` is `false`. */
export function hostDirMount(path: string, hostPath: string, options: { readOnly?: boolean | undefined } = {}): MountConfig {
  const readOnly = options.readOnly ?? true;
  return { path, plugin: createHostDirBackend({ hostPath, readOnly }), readOnly };
}

/** Mounts a `node_modules` folder of the host machine, whose packages programs can import. */
export function nodeModulesMount(hostPath: string, options?: { readOnly?: boolean | undefined }): MountConfig {
  return hostDirMount(`${HOME}/node_modules`, hostPath, options);
}

const CONFIG: OptionTable<HostDirBackend['config']> = { hostPath: required(HOST_FOLDER), readOnly: FLAG };
const BACKEND: OptionTable<HostDirBackend> = {
  id: required(oneOf([PLUGIN], `'${PLUGIN}', the only kind of mount`)),
  config: required(objectWith(CONFIG)),
};
const MOUNT: OptionTable<MountConfig> = {
  path: required(guestPath('/mnt/data')),
  plugin: required(objectWith(BACKEND)),
  readOnly: FLAG,
};
const OTHER_KINDS = {
  driver: without('the SDK has file systems of the app, `mounts: [{ guestPath, fileSystem }]`'),
  filesystem: without('the SDK has `overlay` of mounts, and snapshots'),
};

/** Accepts mounts. */
export const MOUNTS = listOf(objectWith({ ...MOUNT, ...OTHER_KINDS }), 'a list of mounts of `hostDirMount()`');

/** Converts checked mounts. */
export const ownMounts = (mounts: readonly MountConfig[] = []): Mount[] =>
  mounts.map(({ path, plugin, readOnly }) => ({
    guestPath: path,
    hostPath: plugin.config.hostPath,
    readOnly: readOnly ?? plugin.config.readOnly,
  }));
