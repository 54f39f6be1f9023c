// The service `filesystem.Filesystem`: the files of a sandbox over Connect.

import { posix } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { isColdframeError, type NodeRuntime } from 'coldframe';
import { type EntryInfo, type Filesystem, WatchDirResponseSchema } from '../generated/filesystem_pb.js';
import { calledBy } from './context.js';
import { entryAt } from './entry.js';
import { resolvePath } from './paths.js';
import { DirectoryWatch } from './watch.js';
import { Watchers } from './watchers.js';

const WATCHERS = new Watchers();

/** The methods of the service. */
export const filesystemService: ServiceImpl<typeof Filesystem> = {
  async stat({ path }, context) {
    const { sandbox, at } = target(context, path);
    return { entry: await checked(at, () => entryAt(sandbox, at)) };
  },

  async makeDir({ path }, context) {
    const { sandbox, at, user } = target(context, path);
    const existing = await typeAt(sandbox.runtime, at);
    if (existing === 'directory') throw new ConnectError(`directory already exists: ${at}`, Code.AlreadyExists);
    if (existing !== undefined)
      throw new ConnectError(`path already exists but it is not a directory: ${at}`, Code.InvalidArgument);
    await checked(at, () => sandbox.runtime.mkdir(at, { recursive: true, owner: user.name }));
    return { entry: await entryAt(sandbox, at) };
  },

  async move({ source, destination }, context) {
    const { sandbox, at, user } = target(context, source);
    const to = resolvePath(destination, user);
    await checked(at, async () => {
      await sandbox.runtime.stat(at, { followSymlinks: false });
      await sandbox.runtime.mkdir(posix.dirname(to), { recursive: true, owner: user.name });
      await sandbox.runtime.rename(at, to);
    });
    sandbox.moveMetadata(at, to);
    return { entry: await entryAt(sandbox, to) };
  },

  async remove({ path }, context) {
    const { sandbox, at } = target(context, path);
    await checked(at, async () => {
      if ((await typeAt(sandbox.runtime, at)) !== undefined) await sandbox.runtime.remove(at, { recursive: true });
    });
    sandbox.removeMetadata(at);
    return {};
  },

  async listDir({ path, depth }, context) {
    const { sandbox, at } = target(context, path);
    await directoryAt(sandbox.runtime, at);
    const entries: EntryInfo[] = [];
    const walk = async (folder: string, levels: number): Promise<void> => {
      const children = await sandbox.runtime.readDirWithTypes(folder);
      for (const { name, type } of children.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const child = posix.join(folder, name);
        // A program may have removed the entry since.
        const entry = await entryAt(sandbox, child).catch(() => undefined);
        if (entry === undefined) continue;
        entries.push(entry);
        if (type === 'directory' && levels > 1) await walk(child, levels - 1);
      }
    };
    await checked(at, () => walk(at, depth === 0 ? 1 : depth));
    return { entries };
  },

  async *watchDir({ path, recursive, includeEntry }, context) {
    const { sandbox, at } = target(context, path);
    await directoryAt(sandbox.runtime, at);
    const watch = await checked(at, () => DirectoryWatch.start(sandbox, at, { recursive, includeEntry }, context.signal));
    yield create(WatchDirResponseSchema, { event: { case: 'start', value: {} } });
    for await (const event of watch.events()) {
      yield create(WatchDirResponseSchema, { event: { case: 'filesystem', value: event } });
    }
  },

  async createWatcher({ path, recursive, includeEntry }, context) {
    const { sandbox, at } = target(context, path);
    await directoryAt(sandbox.runtime, at);
    return { watcherId: await checked(at, () => WATCHERS.add(sandbox, at, { recursive, includeEntry })) };
  },

  async getWatcherEvents({ watcherId }, context) {
    const events = await WATCHERS.take(calledBy(context).sandbox, watcherId);
    if (events === undefined) throw new ConnectError(`watcher with id ${watcherId} not found`, Code.NotFound);
    return { events };
  },

  removeWatcher({ watcherId }, context) {
    WATCHERS.remove(calledBy(context).sandbox, watcherId);
    return {};
  },
};

function target(context: HandlerContext, path: string) {
  const call = calledBy(context);
  return { ...call, at: resolvePath(path, call.user) };
}

async function typeAt(runtime: NodeRuntime, path: string): Promise<string | undefined> {
  try {
    return (await runtime.stat(path, { followSymlinks: false })).type;
  } catch (error) {
    if (isColdframeError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function directoryAt(runtime: NodeRuntime, path: string): Promise<void> {
  const { isDirectory } = await checked(path, () => runtime.stat(path));
  if (!isDirectory) throw new ConnectError(`path is not a directory: ${path}`, Code.InvalidArgument);
}

// Turns the errors of file calls into errors of Connect.
async function checked<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isColdframeError(error)) throw error;
    throw new ConnectError(`${error.message}: ${path}`, CODES[error.code] ?? Code.Internal);
  }
}

const CODES: Readonly<Record<string, Code | undefined>> = {
  ENOENT: Code.NotFound,
  ENOTDIR: Code.InvalidArgument,
  EISDIR: Code.InvalidArgument,
  EEXIST: Code.AlreadyExists,
  EINVAL: Code.InvalidArgument,
  ENAMETOOLONG: Code.InvalidArgument,
  EACCES: Code.PermissionDenied,
  EPERM: Code.PermissionDenied,
  EROFS: Code.PermissionDenied,
  ENOSPC: Code.ResourceExhausted,
  ENOSYS: Code.Unimplemented,
  ERR_RESOURCE_EXHAUSTED: Code.ResourceExhausted,
};
