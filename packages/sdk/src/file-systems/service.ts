// Answers what programs ask of the app's file systems: finds the method, waits for it no longer than its mount says, and checks what it gives.
// Next: `wire.ts`.

import type { HostRequest, HostService } from '../host-calls/dispatcher.js';
import { HostError } from '../host-calls/host-error.js';
import type { FileSystem, FileSystemMount } from './types.js';
import { linkAnswer, listAnswer, Question, readAnswer, statAnswer } from './wire.js';

/** For how long a program waits, unless its mount says. */
const TIMEOUT_MS = 30_000;

const NOTHING = new Uint8Array(0);

// What a file system may say. `ENOTSUP` is another name of the same number.
const CODES = new Set(
  'E2BIG EACCES EAGAIN EBUSY ECANCELED ECONNREFUSED ECONNRESET EEXIST EFBIG EINTR EINVAL EIO EISDIR ELOOP EMFILE EMLINK ENAMETOOLONG ENFILE ENOENT ENOMEM ENOSPC ENOSYS ENOTDIR ENOTEMPTY EOPNOTSUPP EOVERFLOW EPERM EROFS ETIMEDOUT EXDEV'.split(
    ' ',
  ),
);

type Method = keyof FileSystem;
type Call = (system: FileSystem, question: Question) => unknown;

const readOnly = new HostError('EROFS', 'the file system has no method for it');
const unsupported = new HostError('EOPNOTSUPP', 'the file system has no method for it');

// How each question is asked, and what is said when there is no such method.
const CALLS: Readonly<Record<Method, { call: Call; without: HostError }>> = {
  stat: { call: async (system, question) => statAnswer(await system.stat(question.text())), without: unsupported },
  readDir: { call: async (system, question) => listAnswer(await system.readDir(question.text())), without: unsupported },
  read: {
    call: async (system, question) => {
      const [path, offset, length] = [question.text(), question.u64(), question.u32()];
      return readAnswer(await system.read(path, offset, length), length);
    },
    without: unsupported,
  },
  write: { call: (system, question) => system.write?.(question.text(), question.u64(), question.rest()), without: readOnly },
  create: { call: (system, question) => system.create?.(question.text(), question.u32()), without: readOnly },
  truncate: { call: (system, question) => system.truncate?.(question.text(), question.u64()), without: readOnly },
  mkdir: { call: (system, question) => system.mkdir?.(question.text(), question.u32()), without: readOnly },
  remove: { call: (system, question) => system.remove?.(question.text()), without: readOnly },
  rename: { call: (system, question) => system.rename?.(question.text(), question.text()), without: readOnly },
  symlink: {
    call: (system, question) => {
      const path = question.text();
      return system.symlink?.(question.text(), path);
    },
    without: unsupported,
  },
  readlink: {
    call: async (system, question) => linkAnswer((await system.readlink?.(question.text())) ?? ''),
    without: unsupported,
  },
  chmod: { call: (system, question) => system.chmod?.(question.text(), question.u32()), without: unsupported },
  utimes: {
    call: (system, question) => system.utimes?.(question.text(), question.time(), question.time()),
    without: unsupported,
  },
};

/** A service for these mounts, which their questions name by their place. */
export function fileSystemService(mounts: readonly FileSystemMount[]): HostService {
  return async (request) => {
    const { name, input } = request;
    const question = new Question(input);
    const mount = mounts[question.u32()];
    const method = CALLS[name as Method];
    if (mount === undefined || !Object.hasOwn(CALLS, name))
      throw new HostError('ENOSYS', 'there is no such file system or method');
    if (typeof mount.fileSystem[name as Method] !== 'function') throw method.without;
    const work = Promise.resolve().then(() => method.call(mount.fileSystem, question));
    try {
      const answer = await within(work, mount.timeout ?? TIMEOUT_MS, request);
      return answer instanceof Uint8Array ? answer : NOTHING;
    } catch (error) {
      throw hostError(error);
    }
  };
}

// The timer does not hold the process: what waits for the answer is the sidecar.
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
