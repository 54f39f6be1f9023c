// Nodes of just-bash's syntax tree: parts of a script as scripts of their own, and their text.
// Next: fork.js.

import { serialize } from 'just-bash';

/** Returns a pipeline of one command. */
export const pipelineOf = (command) => ({ type: 'Pipeline', commands: [command], negated: false });

/** Returns a statement that runs in the foreground. */
export const statementOf = (pipelines, operators = []) => ({ type: 'Statement', pipelines, operators, background: false });

/** Returns the text of a statement, for the list of jobs. */
export const textOf = (pipelines, operators) =>
  serialize({ type: 'Script', statements: [statementOf(pipelines, operators)] }).trim();
