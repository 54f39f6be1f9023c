// The result of a cell: its output, its displayed values and its error. The guest sends values and
// error as JSON. A hostile guest can send any JSON, so the shape is checked here.

import type { Outcome } from '../channel/outcome.js';
import { ExecResult, type Returned, returnedBy, withFault } from '../programs/result.js';

/** One displayed value of a cell. */
export interface CellOutput {
  /**
   * The representations of the value by MIME type. Every representation is text; bytes are base64,
   * and JSON is its text.
   */
  readonly data: Readonly<Record<string, string>>;
  /** Whether the value is the value of the cell's last expression. */
  readonly isMain: boolean;
}

/** An error that a cell, or work between two cells, did not catch. */
export interface CellError {
  /** The error's name, or `'Uncaught'` for a thrown value that is no error. */
  readonly name: string;
  /** The error's message, or the thrown value as `util.inspect()` prints it. */
  readonly message: string;
  readonly stack: string;
}

interface CellValue {
  results: CellOutput[];
  thrown?: CellError;
  earlier: CellError[];
  droppedErrors: number;
}

const PLAIN = 'text/plain';

/** The result of `runner.cell()`. */
export class CellResult extends ExecResult {
  /** The values that the cell passed to `display()`, and the value of its last expression. */
  readonly results: readonly CellOutput[];
  /** The error that the cell did not catch. Absent for an error of a shell's command. */
  declare readonly thrown?: CellError;
  /**
   * The errors that servers and timers of earlier evaluations did not catch since the last cell, at
   * most 16. Their reports are also in `stderr`.
   */
  readonly earlierErrors: readonly CellError[];
  /** The number of further errors since the last cell. */
  readonly droppedErrors: number;

  /** @internal */
  constructor(given: Outcome) {
    const { outcome, value } = checked(returnedBy(given));
    super(outcome);
    this.results = value.results;
    if (value.thrown !== undefined) this.thrown = value.thrown;
    this.earlierErrors = value.earlier;
    this.droppedErrors = value.droppedErrors;
  }

  /** The value of the last expression as plain text. `undefined` if the cell has no value. */
  get text(): string | undefined {
    return this.results.find(({ isMain }) => isMain)?.data[PLAIN];
  }
}

function checked({ outcome, value }: Returned): { outcome: Outcome; value: CellValue } {
  if (isCellValue(value)) return { outcome, value };
  const none: CellValue = { results: [], earlier: [], droppedErrors: 0 };
  return { outcome: value === undefined ? outcome : withFault(outcome, "the cell's value has another form"), value: none };
}

function isCellValue(value: unknown): value is CellValue {
  if (!isObject(value)) return false;
  const { results, thrown, earlier, droppedErrors } = value;
  if (!Array.isArray(results) || !results.every(isOutput)) return false;
  if (!Array.isArray(earlier) || !earlier.every(isError)) return false;
  return (thrown === undefined || isError(thrown)) && typeof droppedErrors === 'number';
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isOutput = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.isMain === 'boolean' &&
  isObject(value.data) &&
  Object.values(value.data).every((text) => typeof text === 'string');

const isError = (value: unknown): boolean =>
  isObject(value) && [value.name, value.message, value.stack].every((text) => typeof text === 'string');
