// The lines of an execution's stream: one JSON object each, in ASCII. Clients decode each chunk of
// the network by itself, so a character of several bytes could be cut in two.

import type { CellError, CellOutput } from 'coldframe';

/** One line of the stream. */
export type ExecutionEvent =
  | { type: 'number_of_executions'; execution_count: number }
  | { type: 'stdout' | 'stderr'; text: string; timestamp: string }
  | ({ type: 'result'; is_main_result: boolean } & Record<string, unknown>)
  | { type: 'error'; name: string; value: string; traceback: string }
  | { type: 'keepalive' }
  | { type: 'end_of_execution' };

/** The fields of a result by MIME type. */
const FIELDS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  'text/plain': 'text',
  'text/html': 'html',
  'text/markdown': 'markdown',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'application/pdf': 'pdf',
  'text/latex': 'latex',
  'application/json': 'json',
  'application/javascript': 'javascript',
  'e2b/data': 'data',
  'e2b/chart': 'chart',
});

/** The fields whose representation is JSON text in a cell's result. */
const PARSED: ReadonlySet<string> = new Set(['json', 'data', 'chart']);

/** Returns the line of an event. */
export function lineOf(event: ExecutionEvent): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all characters beyond ASCII
  const text = JSON.stringify(event).replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `${text}\n`;
}

/**
 * Returns the event of a displayed value. Clients expect the text of a string of Python without its
 * quotes, although the plain text of the cell is the `repr` of the string.
 */
export function resultOf({ data, isMain }: CellOutput, language: string): ExecutionEvent {
  const fields: Record<string, unknown> = {};
  const extra: Record<string, string> = {};
  for (const [type, text] of Object.entries(data)) {
    const field = FIELDS[type];
    if (field === undefined) extra[type] = text;
    else fields[field] = PARSED.has(field) ? parsed(text) : text;
  }
  if (language === 'python' && typeof fields.text === 'string') fields.text = withoutQuotes(fields.text);
  if (Object.keys(extra).length > 0) fields.extra = extra;
  return { type: 'result', ...fields, is_main_result: isMain };
}

/** Returns the event of an error. */
export const errorOf = ({ name, message, stack }: CellError): ExecutionEvent => ({
  type: 'error',
  name,
  value: message,
  traceback: stack,
});

function withoutQuotes(text: string): string {
  const [first] = text;
  return text.length > 1 && (first === "'" || first === '"') && text.endsWith(first) ? text.slice(1, -1) : text;
}

// The code of the cell chooses the text of a representation.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
