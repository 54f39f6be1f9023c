// Converts a typed snippet to an ES module for a resident runner. Each evaluation of a runner is a
// module, whose declarations end with the module. So the declarations at the top level become
// properties of `globalThis`, and the last expression becomes the value that is printed.
//
// `const` and `let` become assignments: a later snippet can declare the name again.

import { type Expression, type ModuleDeclaration, type Node, type Pattern, parse, type Statement } from 'acorn';

/** The function in the guest that prints a value and stores the value in `_`. */
export const SHOW = '__coldframeShow';

/** The code that prepares a new runner. */
export const PREPARATION = `
  const { inspect } = await import('node:util');
  const { createRequire } = await import('node:module');
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  define('require', createRequire(process.cwd() + '/repl'));
  define('${SHOW}', (value, colors) => {
    if (value !== undefined) define('_', value);
    console.log(inspect(value, { colors, showProxy: true }));
  });
`;

const OPTIONS = { ecmaVersion: 'latest', sourceType: 'module', allowAwaitOutsideFunction: true } as const;

/** Returns whether the snippet ends before its syntax is complete. */
export function needsMore(text: string): boolean {
  try {
    tree(text);
    return false;
  } catch (error) {
    const { pos, message } = error as SyntaxError & { pos?: number };
    if (pos === undefined) return false;
    // An unterminated template or comment has its position at the start.
    return pos >= text.trimEnd().length || /Unterminated (template|comment)/.test(message);
  }
}

function tree(text: string) {
  // As in Node's REPL, `{ a: 1 }` is an object, and not a block with a label.
  if (/^\s*\{/.test(text) && !/;\s*$/.test(text)) {
    try {
      return { text: `(${text.trim()}\n)`, program: parse(`(${text.trim()}\n)`, OPTIONS) };
    } catch {}
  }
  return { text, program: parse(text, OPTIONS) };
}

/**
 * Returns the module for a snippet. A snippet with wrong syntax is returned unchanged, so that the
 * guest reports the error.
 */
export function moduleFor(typed: string, colors: boolean): string {
  let parsed: ReturnType<typeof tree>;
  try {
    parsed = tree(typed);
  } catch {
    return typed;
  }
  const { text, program } = parsed;
  const names = new Set<string>();
  const early: string[] = [];
  const parts = program.body.map((statement, at) => {
    const isLast = at === program.body.length - 1;
    return convert(statement, { text, names, early, colors, isLast });
  });
  const last = program.body.at(-1);
  if (last?.type !== 'ExpressionStatement') parts.push(`${SHOW}(undefined, ${colors});`);
  // Strict code can assign only to existing names.
  const declared = [...names].map((name) => `if (!('${name}' in globalThis)) globalThis.${name} = undefined;`);
  return [...declared, ...early, ...parts].join('\n');
}

interface Context {
  text: string;
  names: Set<string>;
  /** Code that precedes the statements, because functions and imports are hoisted. */
  early: string[];
  colors: boolean;
  isLast: boolean;
}

function convert(node: Statement | ModuleDeclaration, { text, names, early, colors, isLast }: Context): string {
  const source = (part: Pick<Node, 'start' | 'end'>): string => text.slice(part.start, part.end);
  switch (node.type) {
    case 'VariableDeclaration': {
      for (const { id } of node.declarations) for (const name of namesIn(id)) names.add(name);
      const parts = node.declarations.map(({ id, init }) => `(${source(id)} = ${init ? source(init) : 'undefined'})`);
      return `void (${parts.join(', ')});`;
    }
    case 'FunctionDeclaration':
      early.push(`globalThis.${node.id.name} = ${node.id.name};`);
      return source(node);
    case 'ClassDeclaration':
      names.add(node.id.name);
      return `${node.id.name} = ${source(node)};`;
    case 'ImportDeclaration':
      for (const { local } of node.specifiers) early.push(`globalThis.${local.name} = ${local.name};`);
      return source(node);
    case 'ExpressionStatement':
      for (const name of assignedNames(node.expression)) names.add(name);
      return isLast ? `${SHOW}((${source(node.expression)}\n), ${colors});` : source(node);
    default:
      return source(node);
  }
}

// Returns the names that an expression such as `a = b = 1` assigns. Such names need no declaration
// in a script, and a snippet is a module.
function assignedNames(expression: Expression): string[] {
  if (expression.type !== 'AssignmentExpression' || expression.operator !== '=') return [];
  const { left, right } = expression;
  return [...(left.type === 'MemberExpression' ? [] : namesIn(left)), ...assignedNames(right)];
}

function namesIn(pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => namesIn(one.type === 'Property' ? one.value : one.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => (one === null ? [] : namesIn(one)));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}
