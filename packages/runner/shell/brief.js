// Decides which commands may run long. The left side of a pipe runs before the right side only if
// the left side is brief. A brief command starts no program, waits for nothing, and has no loop
// without a given number of turns. Next: pipelines.js.

import { hasOwnInput, inputMayWait, plainArguments, readsAsItComes } from './input.js';

const PLAIN = new Set(['Literal', 'SingleQuoted', 'Escaped']);

// Commands and builtins that wait, or that run commands which the words do not show.
const LONG = new Set([
  '.',
  'builtin',
  'command',
  'eval',
  'exec',
  'find',
  'read',
  'sleep',
  'source',
  'tail',
  'wait',
  'xargs',
  'yes',
]);

/** Returns the name of a simple command that is plain text, or undefined. */
export function plainName(node) {
  if (node.type !== 'SimpleCommand' || !node.name) return undefined;
  const isPlain = node.name.parts.every(({ type }) => PLAIN.has(type));
  return isPlain ? node.name.parts.map(({ value }) => value).join('') : undefined;
}

// Returns whether a command of just-bash writes its input as the input arrives.
function waitsForInput(interpreter, name, node) {
  if (hasOwnInput(node) || !interpreter.readsDescriptor()) return false;
  return readsAsItComes(name, plainArguments(node)) && inputMayWait();
}

/** Returns whether a command of a pipeline may run long. */
export function mayRunLong(interpreter, node) {
  const any = (statements) => statements.some(({ background, pipelines }) => background || pipelines.some(isLong));
  const isLong = ({ commands }) => commands.some((command) => mayRunLong(interpreter, command));
  switch (node.type) {
    case 'SimpleCommand': {
      if (!node.name) return false;
      const name = plainName(node);
      if (name === undefined || LONG.has(name)) return true;
      const kind = interpreter.kindOf(name);
      return kind === 'function' || kind === 'program' || (kind === 'own' && waitsForInput(interpreter, name, node));
    }
    case 'If':
      return node.clauses.some(({ condition, body }) => any(condition) || any(body)) || any(node.elseBody ?? []);
    case 'For':
    case 'Group':
    case 'Subshell':
      return any(node.body);
    case 'Case':
      return node.items.some(({ body }) => any(body));
    case 'ArithmeticCommand':
    case 'ConditionalCommand':
    case 'FunctionDef':
      return false;
    default:
      return true;
  }
}
