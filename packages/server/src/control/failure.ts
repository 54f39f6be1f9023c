// The failures of the control plane, as its clients read them: a status, and JSON with the same
// number as `code`. Clients decide by the number in the body.

import { type FailureCode, SandboxFailure } from '../sandboxes/failure.js';

/** A request that is answered with a status and a message. */
export class ControlFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlFailure';
    this.status = status;
  }
}

const STATUSES: Readonly<Record<FailureCode, number>> = {
  'template-not-found': 404,
  'sandbox-not-found': 404,
  'snapshot-not-found': 404,
  'not-running': 409,
  'not-quiet': 409,
  'name-taken': 409,
  'no-room': 429,
};

/** Returns the status and the message of an error. */
export function failureOf(error: unknown): { status: number; message: string } {
  if (error instanceof ControlFailure) return { status: error.status, message: error.message };
  if (error instanceof SandboxFailure) return { status: STATUSES[error.code], message: error.message };
  const { statusCode, message } = error as { statusCode?: unknown; message?: unknown };
  const isKnown = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isKnown ? { status: statusCode, message: String(message) } : { status: 500, message: 'The server failed.' };
}
