// Converts the text of a cell to an ES module whose declarations outlive the module. Names that the
// top level declares become properties of the global object. Later cells can use the names and
// declare the names again. The value of the last expression is passed to the object
// `import.meta.cell`. Every line keeps its number, because error reports quote the typed text.
// Next: cell.js.
'use strict';

const context = require('../context.js');

const ACORN = 'internal/deps/acorn/acorn/dist/acorn';
const OPTIONS = { ecmaVersion: 'latest', sourceType: 'module', allowAwaitOutsideFunction: true };
const CELL = '__coldframeCell';
const LOCAL = '__coldframe_';

// Returns the text of the module. A text with wrong syntax is returned unchanged, so that the
// engine reports the error.
function moduleOf(typed) {
  let text = typed;
  let program;
  try {
    ({ text, program } = parse(typed));
  } catch {
    return typed;
  }
  const cell = { text, edits: [], names: new Set(), missing: new Set(), shared: [] };
  const last = program.body.at(-1);
  for (const node of program.body) convert(cell, node, node === last);
  return prefixOf(cell) + applied(cell);
}

// As in Node's REPL, `{ a: 1 }` is an object, and not a block with a label.
function parse(typed) {
  const { parse: parseModule } = context.requireBuiltin(ACORN);
  if (/^\s*\{/.test(typed) && !/;\s*$/.test(typed)) {
    const text = `(${typed}\n)`;
    try {
      return { text, program: parseModule(text, OPTIONS) };
    } catch {}
  }
  return { text: typed, program: parseModule(typed, OPTIONS) };
}

// The calls before the first statement. Functions and imports exist before any statement runs.
function prefixOf({ names, missing, shared }) {
  const list = (all) => JSON.stringify([...all]);
  let prefix = `const ${CELL} = import.meta.cell;`;
  if (names.size > 0) prefix += `${CELL}.declare(${list(names)});`;
  if (missing.size > 0) prefix += `${CELL}.add(${list(missing)});`;
  for (const { name, local } of shared) prefix += `${CELL}.share(${JSON.stringify(name)},${local});`;
  return prefix;
}

function applied({ text, edits }) {
  let [out, at] = ['', 0];
  for (const { start, end, put } of edits.sort((one, other) => one.start - other.start || one.end - other.end)) {
    out += text.slice(at, start) + put;
    at = end;
  }
  return out + text.slice(at);
}

const insert = (cell, at, put) => cell.edits.push({ start: at, end: at, put });
const replace = (cell, start, end, put) => cell.edits.push({ start, end, put });

function convert(cell, node, isLast) {
  switch (node.type) {
    case 'ImportDeclaration':
      for (const { local } of node.specifiers) cell.shared.push({ name: local.name, local: local.name });
      return;
    case 'ExportNamedDeclaration':
      // A cell exports nothing, so the declaration counts as if the keyword were absent.
      if (node.declaration === null) return;
      replace(cell, node.start, node.declaration.start, '');
      convert(cell, node.declaration, isLast);
      return;
    case 'FunctionDeclaration':
      convertFunction(cell, node);
      return;
    case 'ClassDeclaration':
      cell.names.add(node.id.name);
      insert(cell, node.start, `${node.id.name} = `);
      insert(cell, node.end, ';');
      return;
    case 'VariableDeclaration':
      convertVariables(cell, node);
      return;
    case 'ExpressionStatement':
      for (const name of assigned(node.expression)) cell.missing.add(name);
      if (isLast) convertValue(cell, node);
      return;
    default:
      convertNested(cell, node);
  }
}

// A parenthesis around the expression belongs to the statement and not to the expression.
function convertValue(cell, { start, end }) {
  const tail = cell.text[end - 1] === ';' ? end - 1 : end;
  insert(cell, start, `await ${CELL}.value(await (`);
  replace(cell, tail, end, '));');
}

// The function keeps its place, and is called by another name in the module. Calls from this cell
// and from later cells therefore reach the function that the name has at the time of the call.
function convertFunction(cell, { id: { name, start, end } }) {
  const local = LOCAL + name;
  cell.names.add(name);
  cell.shared.push({ name, local });
  replace(cell, start, end, local);
}

// `const` and `let` become assignments. `void` begins a new statement also after a line without a
// semicolon.
function convertVariables(cell, { start, end, kind, declarations }) {
  if (kind !== 'var' && kind !== 'let' && kind !== 'const') return;
  replace(cell, start, start + kind.length, 'void (');
  for (const { id, init, start: from, end: to } of declarations) {
    for (const name of namesIn(id)) cell.names.add(name);
    if (init !== null) {
      insert(cell, from, '(');
      insert(cell, to, ')');
    } else if (kind !== 'var') insert(cell, to, ' = undefined');
  }
  const tail = declarations.at(-1).end;
  insert(cell, tail, tail === end ? ');' : ')');
}

const BODIES = ['consequent', 'alternate', 'body', 'block', 'finalizer'];

// Finds the declarations with `var` inside of statements. `var` belongs to the top level.
function convertNested(cell, node) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'VariableDeclaration') {
    if (node.kind === 'var') convertVariables(cell, node);
    return;
  }
  if (/^(?:Function|Class)/.test(node.type)) return;
  if (node.type === 'ForStatement') convertHead(cell, node.init);
  if (node.type === 'ForInStatement' || node.type === 'ForOfStatement') convertHead(cell, node.left);
  if (node.type === 'SwitchStatement') for (const { consequent } of node.cases) convertAll(cell, consequent);
  if (node.handler) convertNested(cell, node.handler.body);
  for (const key of BODIES) {
    const part = node[key];
    if (Array.isArray(part)) convertAll(cell, part);
    else if (part !== undefined) convertNested(cell, part);
  }
}

function convertAll(cell, nodes) {
  for (const node of nodes) convertNested(cell, node);
}

// The head of a loop cannot begin with `void`.
function convertHead(cell, node) {
  if (node?.type !== 'VariableDeclaration' || node.kind !== 'var') return;
  replace(cell, node.start, node.start + 'var'.length, '');
  for (const { id, init, start, end } of node.declarations) {
    for (const name of namesIn(id)) cell.names.add(name);
    if (init === null) continue;
    insert(cell, start, '(');
    insert(cell, end, ')');
  }
}

// Returns the names that an expression such as `a = b = 1` assigns. Such names need no declaration
// in a script, and a cell is a module.
function assigned(expression) {
  if (expression.type !== 'AssignmentExpression' || expression.operator !== '=') return [];
  const { left, right } = expression;
  return [...(left.type === 'MemberExpression' ? [] : namesIn(left)), ...assigned(right)];
}

function namesIn(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => namesIn(one.type === 'Property' ? one.value : one.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesIn);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

module.exports = { moduleOf };
