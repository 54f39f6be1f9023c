// The failures of calls about sandboxes, with stable codes. The routes turn a code into a status.

/** The codes of {@link SandboxFailure}. */
export type FailureCode =
  | 'invalid'
  | 'template-not-found'
  | 'template-not-ready'
  | 'sandbox-not-found'
  | 'not-here'
  | 'not-running'
  | 'not-quiet'
  | 'not-ready'
  | 'name-taken'
  | 'id-taken'
  | 'snapshot-not-found'
  | 'snapshot-damaged'
  | 'snapshot-foreign'
  | 'volume-not-found'
  | 'secret-not-found'
  | 'quota'
  | 'draining'
  | 'cordoned'
  | 'full'
  | 'no-room'
  | 'disk-full'
  | 'state-lost'
  | 'wrong-epoch';

/** A call about a sandbox that failed for a reason that its caller can act on. */
export class SandboxFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxFailure';
    this.code = code;
  }
}

/** Returns the failure for an id without a sandbox. */
export const notFound = (id: string, reason?: string): SandboxFailure =>
  new SandboxFailure('sandbox-not-found', `The sandbox ${id} was not found${reason === undefined ? '' : `: ${reason}`}`);

/** Returns the failure for a call that needs a running sandbox. */
export const notRunning = (id: string): SandboxFailure => new SandboxFailure('not-running', `The sandbox ${id} is not running`);
