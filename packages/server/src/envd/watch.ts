// The changes below a directory, in the clients' terms.
//
// The SDK reports that a name or a file has changed. The kind of the
// change follows from the state of the path before and after the change.

import { posix } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { FileStatus } from 'coldframe';
import { EventType, type FilesystemEvent, FilesystemEventSchema } from '../generated/filesystem_pb.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { entryAt } from './entry.js';

/** The options of a watch. */
export interface WatchOptions {
  recursive: boolean;
  /** Whether events have the description of the file. */
  includeEntry: boolean;
}

/** Yields the changes below `root` until `signal` aborts or the sandbox ends. */
export async function* watchDirectory(
  sandbox: Sandbox,
  root: string,
  { recursive, includeEntry }: WatchOptions,
  signal: AbortSignal,
): AsyncIterable<FilesystemEvent> {
  const known = await statesBelow(sandbox, root, recursive);
  try {
    for await (const { type, path } of sandbox.runtime.watch(root, { recursive, signal })) {
      if (type === 'overflow' || path === root) continue;
      for (const kind of await kindsOf(sandbox, known, path)) {
        const hasEntry = includeEntry && kind !== EventType.REMOVE && kind !== EventType.RENAME;
        const entry = hasEntry ? await entryAt(sandbox, path).catch(() => undefined) : undefined;
        const name = posix.relative(root, path);
        yield create(FilesystemEventSchema, { name, type: kind, ...(entry === undefined ? {} : { entry }) });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type State = Pick<FileStatus, 'mode' | 'mtimeMs' | 'size' | 'ino'>;

async function kindsOf({ runtime }: Sandbox, known: Map<string, State>, path: string): Promise<EventType[]> {
  const before = known.get(path);
  const after = await runtime.stat(path, { followSymlinks: false }).catch(() => undefined);
  if (after === undefined) {
    known.delete(path);
    return before === undefined ? [] : [EventType.REMOVE];
  }
  known.set(path, after);
  if (before === undefined) return [EventType.CREATE];
  const kinds: EventType[] = [];
  if (before.mode !== after.mode) kinds.push(EventType.CHMOD);
  if (before.mtimeMs !== after.mtimeMs || before.size !== after.size) kinds.push(EventType.WRITE);
  return kinds;
}

async function statesBelow({ runtime }: Sandbox, root: string, recursive: boolean): Promise<Map<string, State>> {
  const states = new Map<string, State>();
  const walk = async (folder: string): Promise<void> => {
    for (const { name, type } of await runtime.readDirWithTypes(folder).catch(() => [])) {
      const path = posix.join(folder, name);
      const state = await runtime.stat(path, { followSymlinks: false }).catch(() => undefined);
      if (state !== undefined) states.set(path, state);
      if (recursive && type === 'directory') await walk(path);
    }
  };
  await walk(root);
  return states;
}
