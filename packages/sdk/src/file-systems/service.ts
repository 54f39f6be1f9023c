// The service behind app file systems. The service finds the method of a host call, waits for the
// result within the mount's timeout, and encodes the result. Next: `wire.ts`.

import type { HostRequest, HostService } from '../host-calls/dispatcher.js';
import { HostError } from '../host-calls/host-error.js';
import type { FileSystem, FileSystemMount } from '../options/file-system.js';
import { CallReader, checkBytes, encodeEntries, encodeStat, encodeTarget } from './wire.js';

/** Milliseconds that a program waits for a method if the mount has no `timeout`. */
const TIMEOUT_MS = 30_000;

const NOTHING = new Uint8Array(0);

/**
 * The error codes that a method may use. `ENOTSUP` becomes `EOPNOTSUPP`, because both names have
 * one number on Linux.
 */
const CODES = new Set(
  `E2BIG EACCES EAGAIN EBUSY ECANCELED ECONNREFUSED ECONNRESET EEXIST EFBIG EINTR EINVAL EIO EISDIR ELOOP EMFILE
   EMLINK ENAMETOOLONG ENFILE ENOENT ENOMEM ENOSPC ENOSYS ENOTDIR ENOTEMPTY EOPNOTSUPP EOVERFLOW EPERM EROFS
   ETIMEDOUT EXDEV`.split(/\s+/),
);

type Method = keyof FileSystem;
type Call = (system: FileSystem, input: CallReader) => unknown;

const readOnly = new HostError('EROFS', 'the file system has no method for it');
const unsupported = new HostError('EOPNOTSUPP', 'the file system has no method for it');

/** For each method: its call, and the error of a file system that does not have the method. */
const CALLS: Readonly<Record<Method, { call: Call; without: HostError }>> = {
  stat: { call: async (system, input) => encodeStat(await system.stat(input.text())), without: unsupported },
  readDir: { call: async (system, input) => encodeEntries(await system.readDir(input.text())), without: unsupported },
  read: {
    call: async (system, input) => {
      const [path, offset, length] = [input.text(), input.u64(), input.u32()];
      return checkBytes(await system.read(path, offset, length), length);
    },
    without: unsupported,
  },
  write: { call: (system, input) => system.write?.(input.text(), input.u64(), input.rest()), without: readOnly },
  create: { call: (system, input) => system.create?.(input.text(), input.u32()), without: readOnly },
  truncate: { call: (system, input) => system.truncate?.(input.text(), input.u64()), without: readOnly },
  mkdir: { call: (system, input) => system.mkdir?.(input.text(), input.u32()), without: readOnly },
  remove: { call: (system, input) => system.remove?.(input.text()), without: readOnly },
  rename: { call: (system, input) => system.rename?.(input.text(), input.text()), without: readOnly },
  symlink: {
    call: (system, input) => {
      const path = input.text();
      return system.symlink?.(input.text(), path);
    },
    without: unsupported,
  },
  readlink: {
    call: async (system, input) => encodeTarget((await system.readlink?.(input.text())) ?? ''),
    without: unsupported,
  },
  chmod: { call: (system, input) => system.chmod?.(input.text(), input.u32()), without: unsupported },
  utimes: {
    call: (system, input) => system.utimes?.(input.text(), input.time(), input.time()),
    without: unsupported,
  },
};

/** Makes the service for the app file systems `mounts`. A host call names a mount by its index. */
export function fileSystemService(mounts: readonly FileSystemMount[]): HostService {
  return async (request) => {
    const { name } = request;
    const input = new CallReader(request.input);
    const mount = mounts[input.u32()];
    const method = CALLS[name as Method];
    if (mount === undefined || !Object.hasOwn(CALLS, name))
      throw new HostError('ENOSYS', 'there is no such file system or method');
    if (typeof mount.fileSystem[name as Method] !== 'function') throw method.without;
    const work = Promise.resolve().then(() => method.call(mount.fileSystem, input));
    try {
      const result = await within(work, mount.timeout ?? TIMEOUT_MS, request);
      return result instanceof Uint8Array ? result : NOTHING;
    } catch (error) {
      throw hostError(error);
    }
  };
}

// Rejects with `ETIMEDOUT` if `work` takes longer than `ms`. The timer does not keep this process
// alive, because only the guest waits for the result.
function within<T>(work: Promise<T>, ms: number, request: HostRequest): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = () => reject(new HostError('ETIMEDOUT', `the file system did not answer within ${ms} ms`));
    const timer = setTimeout(late, ms);
    timer.unref();
    request.onAbandoned(() => clearTimeout(timer));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function hostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  const name = code === 'ENOTSUP' ? 'EOPNOTSUPP' : code;
  return typeof name === 'string' && CODES.has(name) ? new HostError(name, name) : new HostError('EIO', 'the file system failed');
}
