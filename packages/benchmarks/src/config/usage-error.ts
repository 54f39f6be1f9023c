// What the caller of a command did wrong: the message is all that is shown. `parseArgs` has its own kind of such errors.

export class UsageError extends Error {
  override name = 'UsageError';
}

type UsageProblem = UsageError | (Error & { code: string });

export const isUsageError = (error: unknown): error is UsageProblem =>
  error instanceof UsageError || (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'));
