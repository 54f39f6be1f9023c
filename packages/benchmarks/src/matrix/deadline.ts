// A promise with an end: nothing in a benchmark may wait for ever on something that hangs.

export class DeadlineError extends Error {
  override name = 'DeadlineError';
}

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
