// The failures that clients of the server receive.

/** A request that the server refused, or that did not reach the server. */
export class ServerError extends Error {
  /** A code for programs: `ERR_SERVER`, or `ERR_SERVER_UNREACHABLE`. */
  readonly code: string;
  /** The status of the response, or the code of the service that refused the call. */
  readonly status: number | string | undefined;
  /** One sentence that states what the user can do. */
  readonly remedy: string;

  constructor(message: string, options: { code?: string; status?: number | string; remedy?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ServerError';
    this.code = options.code ?? 'ERR_SERVER';
    this.status = options.status;
    this.remedy = options.remedy ?? remedyOf(options.status);
  }
}

function remedyOf(status: number | string | undefined): string {
  if (status === 401 || status === 'unauthenticated') return 'Log in with `coldframe login`, or set COLDFRAME_API_KEY.';
  if (status === 404 || status === 502) return 'List the sandboxes with `coldframe sandbox ls`.';
  if (status === 429) return 'Try again later, or end sandboxes with `coldframe sandbox kill`.';
  return 'Read the message of the server.';
}

/** Returns the failure that a response states. */
export async function failureOf(response: Response): Promise<ServerError> {
  const text = await response.text().catch(() => '');
  let message = text.slice(0, 500);
  try {
    const body = JSON.parse(text) as { message?: unknown };
    if (typeof body.message === 'string') message = body.message;
  } catch {
    // A body without JSON is the message.
  }
  return new ServerError(message || `the server answered with status ${response.status}`, { status: response.status });
}
