// Refuses programs such as `a + b as T * c`: the assertion groups `a + b`, and without the
// assertion `b * c` would be computed first. Next: strip.js.
'use strict';

const GROUPING = 'Type assertions that would change binary expression grouping are not supported in strip-only mode.';

const PRECEDENCE = { __proto__: null };
[
  ['??'],
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!=', '===', '!=='],
  ['<', '<=', '>', '>=', 'in', 'instanceof'],
  ['<<', '>>', '>>>'],
  ['+', '-'],
  ['*', '/', '%'],
  ['**'],
].forEach((operators, level) => {
  for (const operator of operators) PRECEDENCE[operator] = level;
});

const isAssertion = (node) => node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression';

function changesGrouping(node, text) {
  if (!isAssertion(node)) return false;
  let inner = node.expression;
  while (isAssertion(inner)) inner = inner.expression;
  if (inner.type !== 'BinaryExpression' && inner.type !== 'LogicalExpression') return false;
  const next = PRECEDENCE[operatorAt(text.next(node.end), text)];
  const own = PRECEDENCE[inner.operator];
  return next !== undefined && (next > own || (next === own && inner.operator === '**'));
}

function operatorAt(index, text) {
  const word = text.word(index);
  if (word !== '') return word;
  let operator = '';
  for (let at = index; /[-+*/%<>=!&|^?]/.test(text.at(at) ?? ''); at++) operator += text.at(at);
  return operator;
}

module.exports = { changesGrouping, GROUPING };
