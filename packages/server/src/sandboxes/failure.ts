// The failures of calls about sandboxes, with stable codes. The routes turn a code into a status.

/** The codes of {@link SandboxFailure}. */
export type FailureCode =
  | 'template-not-found'
  | 'sandbox-not-found'
  | 'not-running'
  | 'not-quiet'
  | 'name-taken'
  | 'snapshot-not-found'
  | 'no-room';

/** A call about a sandbox that failed for a reason that its caller can act on. */
export class SandboxFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxFailure';
    this.code = code;
  }
}
