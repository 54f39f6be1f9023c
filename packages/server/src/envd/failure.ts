// The failures of the agent's plain HTTP routes, and their statuses.

import { isColdframeError } from 'coldframe';

/** A request that is answered with a status and a message. */
export class AgentFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'AgentFailure';
    this.status = status;
  }
}

const STATUSES: Readonly<Record<string, number | undefined>> = {
  ENOENT: 404,
  ENOTDIR: 400,
  EISDIR: 400,
  EINVAL: 400,
  ENAMETOOLONG: 400,
  EACCES: 403,
  EPERM: 403,
  EROFS: 403,
  ENOSPC: 507,
  ERR_RESOURCE_EXHAUSTED: 429,
};

/** Returns the status and the message of an error. */
export function failureOf(error: unknown): { status: number; message: string } {
  if (error instanceof AgentFailure) return { status: error.status, message: error.message };
  if (isColdframeError(error)) return { status: STATUSES[error.code] ?? 500, message: error.message };
  return { status: 500, message: error instanceof Error ? error.message : String(error) };
}
