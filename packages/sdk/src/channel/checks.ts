// Checks messages of the sidecar before anything else reads them. Both sides have one version, so
// an invalid message means a broken or hostile sidecar: `ERR_PROTOCOL`, and the connection ends.

import { protocolError } from '../errors/make.js';
import type {
  Credit,
  FileData,
  FileNames,
  FileStatus,
  HostCall,
  HostCancel,
  Outcome,
  Output,
  ProcessTable,
  Restored,
  RestoredProgram,
  RunnerCreated,
  RuntimeCreated,
  RuntimeUsage,
  SidecarHello,
  SidecarResourceSnapshot,
  Started,
  StreamClosed,
  StreamData,
  Timings,
  WireError,
  WireListener,
  WireWarning,
} from './messages.js';

/** A map with unchecked fields. */
export type Fields = Record<string, unknown>;

/** Returns the body as a map. */
export function fields(body: unknown, what: string): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || body instanceof Uint8Array) {
    throw protocolError(`${what} is not a map`);
  }
  return body as Fields;
}

/** Makes the error for an invalid field. */
export function wrong(what: string, field: string, expected: string): Error {
  return protocolError(`${what}.${field} is not ${expected}`);
}

/** Throws unless the field is a number from 0. */
export function natural(body: Fields, what: string, field: string): void {
  const value = body[field];
  if (typeof value !== 'number' || value < 0) throw wrong(what, field, 'a whole number from 0');
}

/** Throws unless the field is text. */
export function text(body: Fields, what: string, field: string): void {
  if (typeof body[field] !== 'string') throw wrong(what, field, 'text');
}

/** hello */
export function hello(body: unknown): SidecarHello {
  const map = fields(body, 'hello');
  text(map, 'hello', 'version');
  text(map, 'hello', 'image');
  natural(map, 'hello', 'pid');
  natural(map, 'hello', 'loadNs');
  return map as unknown as SidecarHello;
}

/** error, and the `failure` of an outcome */
export function wireError(body: unknown, what = 'error'): WireError {
  const map = fields(body, what);
  text(map, what, 'code');
  text(map, what, 'message');
  if (map['details'] === null || map['details'] === undefined) map['details'] = {};
  fields(map['details'], `${what}.details`);
  return map as unknown as WireError;
}

/** output */
export function output(body: unknown): Output {
  const map = fields(body, 'output');
  if (map['fd'] !== 1 && map['fd'] !== 2) throw wrong('output', 'fd', '1 or 2');
  if (!(map['data'] instanceof Uint8Array)) throw wrong('output', 'data', 'binary');
  return map as unknown as Output;
}

/** started */
export function started(body: unknown): Started {
  const map = fields(body, 'started');
  natural(map, 'started', 'pid');
  return map as unknown as Started;
}

/** stream.data */
export function streamData(body: unknown): StreamData {
  const map = fields(body, 'stream.data');
  if (!(map['data'] instanceof Uint8Array)) throw wrong('stream.data', 'data', 'binary');
  return map as unknown as StreamData;
}

/** stream.credit */
export function streamBytes(body: unknown): Credit {
  const map = fields(body, 'stream.credit');
  natural(map, 'stream.credit', 'bytes');
  return map as unknown as Credit;
}

/** stream.close */
export function streamClosed(body: unknown): StreamClosed {
  const map = fields(body, 'stream.close');
  if (map['failure'] !== undefined) wireError(map['failure'], 'stream.close.failure');
  return map as StreamClosed;
}

/** The reply to listener.wait. */
export function listener(body: unknown): WireListener {
  const map = fields(body, 'reply');
  natural(map, 'reply', 'pid');
  for (const field of ['host', 'path']) if (map[field] !== undefined) text(map, 'reply', field);
  if (map['port'] !== undefined) natural(map, 'reply', 'port');
  return map as unknown as WireListener;
}

/** The reply to listener.list. */
export function listeners(body: unknown): WireListener[] {
  const { listeners: list } = fields(body, 'reply');
  if (!Array.isArray(list)) throw wrong('reply', 'listeners', 'a list');
  return list.map(listener);
}

/** host.call */
export function hostCall(body: unknown): HostCall {
  const map = fields(body, 'host.call');
  natural(map, 'host.call', 'runtime');
  natural(map, 'host.call', 'pid');
  text(map, 'host.call', 'service');
  text(map, 'host.call', 'name');
  if (!(map['input'] instanceof Uint8Array)) throw wrong('host.call', 'input', 'binary');
  return map as unknown as HostCall;
}

/** host.cancel */
export function hostCancel(body: unknown): HostCancel {
  const map = fields(body, 'host.cancel');
  natural(map, 'host.cancel', 'runtime');
  return map as unknown as HostCancel;
}

/** The reply to process.list. */
export function processTable(body: unknown): ProcessTable {
  const map = fields(body, 'reply');
  const lists = ['pids', 'ppids', 'groups', 'commands'].map((field) => map[field]);
  const [pids] = lists;
  if (!Array.isArray(pids) || !lists.every((list) => Array.isArray(list) && list.length === pids.length)) {
    throw protocolError('reply is not lists of one length');
  }
  return map as unknown as ProcessTable;
}

/** The reply to runtime.create. */
export function runtimeCreated(body: unknown): RuntimeCreated {
  const map = fields(body, 'reply');
  natural(map, 'reply', 'runtime');
  natural(map, 'reply', 'configureNs');
  if (map['restored'] !== undefined) restored(map['restored']);
  return map as unknown as RuntimeCreated;
}

/** `restored` of the reply to runtime.create. */
export function restored(body: unknown): Restored {
  const map = fields(body, 'reply.restored');
  programs(map);
  text(map, 'reply.restored', 'cwd');
  fields(map['permissions'], 'reply.restored.permissions');
  return map as unknown as Restored;
}

/** `programs` of a restored runtime. */
export function programs(map: Fields): RestoredProgram[] {
  const list = map['programs'];
  if (!Array.isArray(list)) throw wrong('reply', 'programs', 'a list');
  for (const one of list) {
    const program = fields(one, 'reply.programs');
    natural(program, 'reply.programs', 'pid');
    if (program['runner'] !== undefined) natural(program, 'reply.programs', 'runner');
  }
  return list as RestoredProgram[];
}

/** The reply to runner.create. */
export function runnerCreated(body: unknown): RunnerCreated {
  const map = fields(body, 'reply');
  natural(map, 'reply', 'runner');
  natural(map, 'reply', 'pid');
  timings(map['timings']);
  return map as unknown as RunnerCreated;
}

/** The reply to process.start and runner.eval. */
export function outcome(body: unknown): Outcome {
  const map = fields(body, 'reply');
  if (typeof map['exitCode'] !== 'number') throw wrong('reply', 'exitCode', 'a whole number');
  if (!(map['stdout'] instanceof Uint8Array)) throw wrong('reply', 'stdout', 'binary');
  if (!(map['stderr'] instanceof Uint8Array)) throw wrong('reply', 'stderr', 'binary');
  if (map['value'] !== undefined) text(map, 'reply', 'value');
  if (map['failure'] !== undefined) wireError(map['failure'], 'reply.failure');
  timings(map['timings']);
  return map as unknown as Outcome;
}

function timings(body: unknown): Timings {
  const map = fields(body, 'reply.timings');
  natural(map, 'reply.timings', 'memoryMapNs');
  natural(map, 'reply.timings', 'instantiateNs');
  natural(map, 'reply.timings', 'guestStartNs');
  natural(map, 'reply.timings', 'guestRunNs');
  return map as unknown as Timings;
}

/** The reply to resources. */
export function resources(body: unknown): SidecarResourceSnapshot {
  const map = fields(body, 'reply');
  for (const field of ['runtimes', 'processes', 'warmSlots', 'memoryBytes', 'bufferedBytes']) natural(map, 'reply', field);
  return map as unknown as SidecarResourceSnapshot;
}

/** limit.warning */
export function warning(body: unknown): WireWarning {
  const map = fields(body, 'limit.warning');
  text(map, 'limit.warning', 'limit');
  for (const field of ['runtime', 'used', 'max']) natural(map, 'limit.warning', field);
  if (map['pid'] !== undefined) natural(map, 'limit.warning', 'pid');
  return map as unknown as WireWarning;
}

/** The reply to runtime.resources. */
export function runtimeUsage(body: unknown): RuntimeUsage {
  const map = fields(body, 'reply');
  const { limits, used, high, max } = map as Record<string, unknown>;
  if (!Array.isArray(limits) || !limits.every((name) => typeof name === 'string')) {
    throw wrong('reply', 'limits', 'a list of text');
  }
  const isList = (list: unknown) =>
    Array.isArray(list) && list.length === limits.length && list.every((n) => typeof n === 'number');
  if (![used, high, max].every(isList)) throw wrong('reply', 'used', 'a number for each limit');
  for (const field of ['descriptors', 'operations', 'timers', 'cpuMs', 'bufferedBytes']) natural(map, 'reply', field);
  return map as unknown as RuntimeUsage;
}

/** The reply to file.read and file.pull. */
export function fileData(body: unknown): FileData {
  const map = fields(body, 'reply');
  if (!(map['data'] instanceof Uint8Array)) throw wrong('reply', 'data', 'binary');
  natural(map, 'reply', 'size');
  return map as unknown as FileData;
}

const FILE_TYPES: ReadonlySet<unknown> = new Set(['file', 'directory', 'symlink', 'other']);

/** The reply to file.list. */
export function fileNames(body: unknown): FileNames {
  const map = fields(body, 'reply');
  const { names, types } = map as { names: unknown; types: unknown };
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) throw wrong('reply', 'names', 'a list of text');
  if (!Array.isArray(types) || types.length !== names.length || !types.every((type) => FILE_TYPES.has(type))) {
    throw wrong('reply', 'types', 'a type for each name');
  }
  return map as unknown as FileNames;
}

/** The reply to file.stat. */
export function fileStatus(body: unknown): FileStatus {
  const map = fields(body, 'reply');
  if (!FILE_TYPES.has(map['type'])) throw wrong('reply', 'type', 'a type of file');
  for (const field of ['mode', 'size', 'ino', 'nlink', 'uid', 'gid']) natural(map, 'reply', field);
  for (const field of ['atimeUs', 'mtimeUs', 'ctimeUs', 'birthtimeUs']) {
    if (typeof map[field] !== 'number') throw wrong('reply', field, 'a whole number');
  }
  return map as unknown as FileStatus;
}

/** A reply without a result. */
export function done(_body: unknown): void {}
