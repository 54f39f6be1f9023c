// The failures of the control plane, as its clients read them: a status, and JSON with the same
// number as `code`. Clients decide by the number in the body.

import { TooLarge } from '../fleet/blobs.js';
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
  invalid: 400,
  'template-not-found': 404,
  'template-not-ready': 400,
  'sandbox-not-found': 404,
  'snapshot-not-found': 404,
  'snapshot-damaged': 400,
  'snapshot-foreign': 409,
  'volume-not-found': 404,
  'secret-not-found': 404,
  'not-here': 421,
  'not-running': 409,
  'not-quiet': 409,
  'not-ready': 504,
  'name-taken': 409,
  'id-taken': 409,
  quota: 429,
  draining: 503,
  cordoned: 503,
  full: 503,
  'no-room': 429,
  'disk-full': 507,
  'state-lost': 410,
  'wrong-epoch': 409,
};

/** A failure as a client reads it. */
export interface FailureBody {
  code: number;
  message: string;
  /** The stable code of the failure. */
  error_code?: string;
}

/** Returns the status and the message of an error. */
export function failureOf(error: unknown): FailureBody {
  if (error instanceof ControlFailure) return { code: error.status, message: error.message };
  if (error instanceof SandboxFailure) {
    return { code: STATUSES[error.code], message: error.message, error_code: error.code.replaceAll('-', '_') };
  }
  if (error instanceof TooLarge) return { code: 413, message: error.message };
  const { statusCode, message } = error as { statusCode?: unknown; message?: unknown };
  const isKnown = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isKnown ? { code: statusCode, message: String(message) } : { code: 500, message: 'The server failed.' };
}
