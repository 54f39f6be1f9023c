// Converts the results of the tools to results of the protocol: the same data as text and as
// structured content. An error has `isError`, its code and its remedy.

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { failureJson } from '../errors/failure-json.js';
import { remedyFor } from '../errors/remedies.js';
import type { ExecResult } from '../index.js';

type Data = Record<string, unknown>;

/** Makes a result with structured content and its text. */
export const result = (data: Data, text = JSON.stringify(data)): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: data,
});

/**
 * Makes the result of a program. An exit code that is not 0 is no error of the tool. A program that
 * the sandbox ended is an error with a code.
 */
export function programResult(program: ExecResult): CallToolResult {
  const { stdout, stderr, exitCode, error } = program;
  const data = program.toJSON();
  if (error !== undefined) Object.assign(data, { error: { ...error.toJSON(), remedy: remedyFor(error.code) } });
  const lines = [
    ...(error === undefined ? [] : [`${error.code}: ${error.message}`, `remedy: ${remedyFor(error.code)}`]),
    ...(stdout === '' ? [] : [`stdout:\n${stdout.trimEnd()}`]),
    ...(stderr === '' ? [] : [`stderr:\n${stderr.trimEnd()}`]),
    ...(program.stdoutTruncated || program.stderrTruncated ? ['The output was truncated (limits.outputBytes).'] : []),
    `exit code: ${exitCode}`,
  ];
  return { ...result(data, lines.join('\n')), ...(error !== undefined && { isError: true }) };
}

/** Makes the result for an error of a tool. Rethrows an error without a code. */
export function errorResult(error: unknown): CallToolResult {
  const failure = failureJson(error);
  if (failure === undefined) throw error;
  const { code, message, remedy } = failure;
  return { ...result({ error: failure }, `${code}: ${message}\nremedy: ${remedy}`), isError: true };
}
