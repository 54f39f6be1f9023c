// Open files, archives and watches of a runtime over frames, and attributes of files. Messages,
// checks and requests are together here, because no other module uses them.
// `transports/embedded-opened.ts` is the counterpart for the addon.

import { protocolError } from '../errors/make.js';
import type { Channel } from './channel.js';
import { done, fields, fileData, natural, wrong } from './checks.js';
import { type FileData, Kind } from './messages.js';

/**
 * file.open: reads, replaces or appends to a file; or reads a tar archive of a path, or unpacks one
 * there.
 */
export interface FileOpen {
  runtime: number;
  path: string;
  for: 'read' | 'write' | 'append' | 'export' | 'import';
  mode?: number | undefined;
}

/** file.close: `discard` gives up an incomplete archive without an error. */
export interface FileClose {
  runtime: number;
  handle: number;
  discard?: boolean | undefined;
}

/**
 * file.pull: at most `length` bytes from `offset`; of an archive the next bytes, none at its end.
 */
export interface FilePull {
  runtime: number;
  handle: number;
  offset?: number | undefined;
  length: number;
}

/** file.push: bytes to write at `offset`, or to append; of an archive the next bytes. */
export interface FilePush {
  runtime: number;
  handle: number;
  offset?: number | undefined;
  data: Uint8Array;
}

/** file.watch. */
export interface FileWatch {
  runtime: number;
  path: string;
  recursive?: boolean | undefined;
}

/** file.changes: the reply is sent when something has changed. */
export interface FileChanges {
  runtime: number;
  handle: number;
}

/** file.set: omitted fields stay unchanged. */
export interface FileSet {
  runtime: number;
  path: string;
  mode?: number | undefined;
  atimeUs?: number | undefined;
  mtimeUs?: number | undefined;
  follow?: boolean | undefined;
}

/** file.link: a symbolic link to `target`, or a hard link to the file `target`. */
export interface FileLink {
  runtime: number;
  path: string;
  target: string;
  hard?: boolean | undefined;
}

/** file.readlink. */
export interface FileReadlink {
  runtime: number;
  path: string;
}

/** The reply to file.open and file.watch. */
export interface FileHandle {
  handle: number;
  /** The size of a file; else 0. */
  size: number;
  /** Whether the watched path is a directory. */
  directory: boolean;
}

/** The reply to file.changes: two lists of equal length, in the order of the changes. */
export interface ChangeList {
  /** Paths below the watched path; empty for the path itself. */
  names: string[];
  types: ('rename' | 'change')[];
  /** Whether changes were lost. */
  overflow: boolean;
  /** Whether the watch was closed. */
  ended: boolean;
}

/** The calls of a connection for open files. */
export interface OpenedFiles {
  /** Opens a file or an archive. */
  open(open: FileOpen): Promise<FileHandle>;
  /** Closes a file, an archive or a watch. */
  close(close: FileClose): Promise<void>;
  /** Reads. The bytes may be a view of reused memory. */
  pull(pull: FilePull): Promise<FileData>;
  /** Writes. */
  push(push: FilePush): Promise<void>;
  /** Starts a watch. */
  watch(watch: FileWatch): Promise<FileHandle>;
  /** Waits for the next changes of a watch. */
  changes(changes: FileChanges): Promise<ChangeList>;
  /** Sets permission bits and times. */
  set(set: FileSet): Promise<void>;
  /** Makes a link. */
  link(link: FileLink): Promise<void>;
  /** Returns the target of a symbolic link. */
  readlink(link: FileReadlink): Promise<string>;
}

/** Implements the calls as requests. */
export function openedOver({ request, nextId }: Channel): OpenedFiles {
  return {
    open: (open) => request(Kind.fileOpen, nextId(), open, fileHandle),
    close: (close) => request(Kind.fileClose, nextId(), close, done),
    pull: (pull) => request(Kind.filePull, nextId(), pull, fileData),
    push: (push) => request(Kind.filePush, nextId(), push, done),
    watch: (watch) => request(Kind.fileWatch, nextId(), watch, fileHandle),
    changes: (changes) => request(Kind.fileChanges, nextId(), changes, changeList),
    set: (set) => request(Kind.fileSet, nextId(), set, done),
    link: (link) => request(Kind.fileLink, nextId(), link, done),
    readlink: (link) => request(Kind.fileReadlink, nextId(), link, linkTarget),
  };
}

/** The reply to file.open and file.watch. */
export function fileHandle(body: unknown): FileHandle {
  const map = fields(body, 'reply');
  natural(map, 'reply', 'handle');
  natural(map, 'reply', 'size');
  if (typeof map['directory'] !== 'boolean') throw wrong('reply', 'directory', 'true or false');
  return map as unknown as FileHandle;
}

/** The reply to file.changes. */
export function changeList(body: unknown): ChangeList {
  const map = fields(body, 'reply');
  const { names, types, overflow, ended } = map as { [name in keyof ChangeList]: unknown };
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) throw wrong('reply', 'names', 'a list of text');
  const isType = (type: unknown) => type === 'rename' || type === 'change';
  if (!Array.isArray(types) || types.length !== names.length || !types.every(isType)) {
    throw wrong('reply', 'types', 'a type for each name');
  }
  if (typeof overflow !== 'boolean' || typeof ended !== 'boolean') throw protocolError('reply has no overflow or no ended');
  return map as unknown as ChangeList;
}

/** The reply to file.readlink. */
export function linkTarget(body: unknown): string {
  const { target } = fields(body, 'reply');
  if (typeof target !== 'string') throw wrong('reply', 'target', 'text');
  return target;
}
