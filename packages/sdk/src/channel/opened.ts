// What stays open in a runtime, over frames: files for streams, archives, watches; and what sets a file's attributes. The messages, their
// checks and the requests stand together here, because nothing else knows them. The addon's side is `transports/embedded-opened.ts`.

import { protocolError } from '../errors/make.js';
import type { Channel } from './channel.js';
import { done, fields, fileData, natural, wrong } from './checks.js';
import { type FileData, Kind } from './messages.js';

/** file.open: a file is read, made or cut off and written, or added to; a tar archive of a path is read, or written and unpacked there. */
export interface FileOpen {
  runtime: number;
  path: string;
  for: 'read' | 'write' | 'append' | 'export' | 'import';
  mode?: number | undefined;
}

/** file.close: with `discard` an archive that is not complete is given up without an error. */
export interface FileClose {
  runtime: number;
  handle: number;
  discard?: boolean | undefined;
}

/** file.pull: at most `length` bytes from `offset` on; of an archive the next ones, none at its end. */
export interface FilePull {
  runtime: number;
  handle: number;
  offset?: number | undefined;
  length: number;
}

/** file.push: bytes to write at `offset`, or at the end of what is appended to; of an archive the next ones. */
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

/** file.changes: the reply comes when something has happened. */
export interface FileChanges {
  runtime: number;
  handle: number;
}

/** file.set: what is not given stays as it is. */
export interface FileSet {
  runtime: number;
  path: string;
  mode?: number | undefined;
  atimeUs?: number | undefined;
  mtimeUs?: number | undefined;
  follow?: boolean | undefined;
}

/** file.link: a symbolic link that says `target`, or a further name for the file `target`. */
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
  /** Of a file; 0 of anything else. */
  size: number;
  /** Whether a directory is watched. */
  directory: boolean;
}

/** The reply to file.changes: two lists of one length, in the order of what happened. */
export interface ChangeList {
  /** Paths below what is watched; empty for itself. */
  names: string[];
  types: ('rename' | 'change')[];
  /** More happened than was kept. */
  overflow: boolean;
  /** The watch has been closed. */
  ended: boolean;
}

/** What a connection can do with open files. */
export interface OpenedFiles {
  /** Opens a file or an archive. */
  open(open: FileOpen): Promise<FileHandle>;
  /** Closes it, or a watch. */
  close(close: FileClose): Promise<void>;
  /** Reads. The bytes may be a view of memory that is used again. */
  pull(pull: FilePull): Promise<FileData>;
  /** Writes. */
  push(push: FilePush): Promise<void>;
  /** Begins a watch. */
  watch(watch: FileWatch): Promise<FileHandle>;
  /** Waits for a watch's next changes. */
  changes(changes: FileChanges): Promise<ChangeList>;
  /** Sets permissions and times. */
  set(set: FileSet): Promise<void>;
  /** Makes a link. */
  link(link: FileLink): Promise<void>;
  /** Where a symbolic link leads. */
  readlink(link: FileReadlink): Promise<string>;
}

/** They are requests. */
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
  if (typeof overflow !== 'boolean' || typeof ended !== 'boolean') throw protocolError('reply does not say whether it is all');
  return map as unknown as ChangeList;
}

/** The reply to file.readlink. */
export function linkTarget(body: unknown): string {
  const { target } = fields(body, 'reply');
  if (typeof target !== 'string') throw wrong('reply', 'target', 'text');
  return target;
}
