// The error for a wrong command line or environment. A command prints only the message of this
// error. `parseArgs` of Node throws errors of its own for unknown flags.

export class UsageError extends Error {
  override name = 'UsageError';
}

type UsageProblem = UsageError | (Error & { code: string });

export const isUsageError = (error: unknown): error is UsageProblem =>
  error instanceof UsageError || (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'));
