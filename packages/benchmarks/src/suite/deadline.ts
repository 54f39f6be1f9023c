// Limits the time of a promise, so that an operation that hangs does not stop the benchmark. The
// operation itself is not cancelled.

export class DeadlineError extends Error {
  override name = 'DeadlineError';
}

/** Waits for `promise`. Rejects with a `DeadlineError` that names `what` after `milliseconds`. */
export async function withDeadline<T>(what: string, milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`${what} took longer than ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
