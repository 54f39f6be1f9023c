// The line in stderr that names the limit that ended a program, for readers of the output such as a
// model. The option `explainLimits` requests the line.

import type { Outcome } from '../channel/outcome.js';
import type { EvaluationOptions } from '../options/programs.js';

const LINE_FEED = 10;

/**
 * Returns the outcome with a last line of stderr that names the limit. Returns `outcome` itself if
 * the option is not set, or if no limit ended the program.
 */
export function explained(outcome: Outcome, options: EvaluationOptions | undefined): Outcome {
  const { failure, stderr } = outcome;
  if (options?.explainLimits !== true || failure === undefined) return outcome;
  const limit = limitOf(failure, options.timeout);
  if (limit === undefined) return outcome;
  return { ...outcome, stderr: withLine(stderr, `coldframe: ${failure.message} (${failure.code}, limit: ${limit})\n`) };
}

function limitOf({ code, details }: NonNullable<Outcome['failure']>, timeout: number | undefined): string | undefined {
  switch (code) {
    case 'ERR_TIMEOUT':
      if (details['limit'] !== undefined) return `limits.${details['limit']}`;
      return timeout === undefined ? 'limits.wallMs' : 'timeout';
    case 'ERR_CPU_LIMIT':
      return `limits.${details['limit'] ?? 'cpuMs'}`;
    case 'ERR_MEMORY_LIMIT':
      return `limits.${details['limit']}`;
    case 'ERR_RESULT_LIMIT':
      return 'limits.resultBytes';
    default:
      return undefined;
  }
}

// Appends a line. The line begins after a line feed, also if the program's last line has none.
function withLine(stderr: Uint8Array | string, line: string): Uint8Array | string {
  if (typeof stderr === 'string') return stderr === '' || stderr.endsWith('\n') ? stderr + line : `${stderr}\n${line}`;
  const isComplete = stderr.length === 0 || stderr.at(-1) === LINE_FEED;
  return Buffer.concat([stderr, Buffer.from(isComplete ? line : `\n${line}`)]);
}
