// Removes the calls that keep names without need. With `keepNames`, esbuild calls `__name()` for
// each function and class. Most of them have their names anyway, because esbuild renames few. The
// calls take a quarter of the time in which a bundle is evaluated.

import { createRequire } from 'node:module';
import { fromRoot } from './paths.mjs';

const HELPER = '__name';

/** esbuild's mark of a call, which is wrong before a function. */
const PURE = '/* @__PURE__ */ ';

/** Returns all nodes below `node` with their parents. */
function* nodesOf(node, parent = {}) {
  yield { node, parent };
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') yield* nodesOf(child, node);
    }
  }
}

const isHelperCall = (node) => node?.type === 'CallExpression' && node.callee.name === HELPER;

/** Returns the name of an anonymous function or class that is the value of this parent. */
function nameFrom(parent) {
  switch (parent.type) {
    case 'VariableDeclarator':
      return parent.id.name;
    case 'AssignmentExpression':
      return parent.left.name;
    case 'Property':
    case 'PropertyDefinition':
      if (parent.computed) return undefined;
      return parent.key.type === 'PrivateIdentifier' ? `#${parent.key.name}` : parent.key.name;
    default:
      return undefined;
  }
}

/** Returns the range of a statement, with its line if the line has nothing else. */
function wholeLine(code, { start, end }) {
  const before = code.lastIndexOf('\n', start) + 1;
  const isAlone = code.slice(before, start).trim() === '' && code[end] === '\n';
  return isAlone ? [before, end + 1] : [start, end];
}

/** Returns the source ranges of all unnecessary calls. */
function needlessCalls(code, program) {
  const ranges = [];
  const classes = new Map();
  for (const { node, parent } of nodesOf(program)) {
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') {
      classes.set(node.body, node.id?.name ?? nameFrom(parent));
    } else if (node.type === 'StaticBlock' && isHelperCall(node.body[0]?.expression)) {
      // esbuild makes a block for the call alone.
      const [, name] = node.body[0].expression.arguments;
      if (classes.get(parent) === name.value) ranges.push(wholeLine(code, node));
    } else if (node.type === 'ExpressionStatement' && isHelperCall(node.expression)) {
      const [target, name] = node.expression.arguments;
      if (target.name === name.value) ranges.push(wholeLine(code, node));
    } else if (isHelperCall(node)) {
      const [target, name] = node.arguments;
      if (target.id || nameFrom(parent) !== name.value) continue;
      const start = code.endsWith(PURE, node.start) ? node.start - PURE.length : node.start;
      ranges.push([start, target.start], [target.end, node.end]);
    }
  }
  return ranges;
}

/**
 * Returns the code without unnecessary calls of esbuild's `__name()`. A call is unnecessary if the
 * name is also the name of the declaration, the variable or the property.
 */
export function removeNeedlessNames(code) {
  const { parse } = createRequire(fromRoot('packages/sdk/package.json'))('acorn');
  const ranges = needlessCalls(code, parse(code, { ecmaVersion: 'latest', sourceType: 'module' }));
  let kept = '';
  let at = 0;
  for (const [start, end] of ranges.sort(([one], [other]) => one - other)) {
    kept += code.slice(at, start);
    at = end;
  }
  return kept + code.slice(at);
}
