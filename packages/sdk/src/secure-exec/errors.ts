// The error classes of secure-exec 0.2.21. Each class stands for codes of `ColdframeError`, so that
// `instanceof` works as before.

import { ColdframeError } from '../index.js';

const FILE_CODE = /^E[A-Z0-9]+$/;

const codeOf = (value: unknown): string => (value instanceof ColdframeError ? value.code : '');

/** An error of a file, a process or a connection: `code` is a name of Linux, such as `ENOENT`. */
export abstract class KernelError extends ColdframeError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return FILE_CODE.test(codeOf(value));
  }
}

/** The sidecar could not be started (`ERR_SIDECAR_SPAWN`). */
export abstract class SidecarProcessError extends ColdframeError<'ERR_SIDECAR_SPAWN'> {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return codeOf(value) === 'ERR_SIDECAR_SPAWN';
  }
}

/** The sidecar's process ended (`ERR_SIDECAR_EXITED`). */
export abstract class SidecarProcessExited extends ColdframeError<'ERR_SIDECAR_EXITED'> {
  declare readonly exitCode: number | null;
  declare readonly signal: string | null;
  declare readonly stderr: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return codeOf(value) === 'ERR_SIDECAR_EXITED';
  }
}

/** A call was refused: all other codes. The code is in `code`, and not in `detail.code`. */
export abstract class SidecarRejectedError extends ColdframeError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    const code = codeOf(value);
    return code !== '' && code !== 'ERR_SIDECAR_SPAWN' && code !== 'ERR_SIDECAR_EXITED' && !FILE_CODE.test(code);
  }
}

/** No error is of this class, because the SDK has no watchdog of silence. */
export abstract class SidecarSilenceTimeout extends ColdframeError {
  static override [Symbol.hasInstance](): boolean {
    return false;
  }
}
