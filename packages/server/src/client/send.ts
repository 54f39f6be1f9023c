// Sends one request of a client.

import { ServerError } from './failure.js';

/** Sends a request. @throws {ServerError} with `ERR_SERVER_UNREACHABLE` without a response */
export async function send(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    const { origin } = new URL(url);
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new ServerError(`The server at ${origin} cannot be reached: ${reason}`, {
      code: 'ERR_SERVER_UNREACHABLE',
      remedy: 'Start the server with `coldframe serve`, or name another server with `coldframe login`.',
      cause: error,
    });
  }
}
