// The messages between `check()` and its worker thread.

/** The task of the worker. */
export interface CheckTask {
  code: string;
  language: 'javascript' | 'typescript';
  /** The path of the main module of `typescript`. */
  typescript: string;
  /** The path of the manifest of `@types/node`. Absent if only the syntax is checked. */
  nodeTypes: string | undefined;
}

/** A mistake in the code. */
export interface Diagnostic {
  /** The number of the message, such as `TS2322`. */
  code: string;
  /** The text of the message. */
  message: string;
  /** The line, from 1. */
  line: number;
  /** The column, from 1. */
  column: number;
}
