// Waits for the disposal of a runner, a runtime or a sidecar that may have ended already.

import { isColdframeError } from '../errors/error.js';

const ENDED = [
  'ERR_PROTOCOL',
  'ERR_RUNNER_EXITED',
  'ERR_RUNTIME_DISPOSED',
  'ERR_RUNTIME_NOT_FOUND',
  'ERR_SIDECAR_DISPOSED',
  'ERR_SIDECAR_EXITED',
] as const;

/**
 * Waits for a disposal. Ignores its failure if the runner, runtime or sidecar has ended already.
 */
export async function unlessEnded(disposal: Promise<void>): Promise<void> {
  try {
    await disposal;
  } catch (error) {
    if (!isColdframeError(error, ...ENDED)) throw error;
  }
}
