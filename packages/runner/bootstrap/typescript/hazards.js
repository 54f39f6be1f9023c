// What: the places where a blank would change how the rest is read, because JavaScript ends statements at line breaks: a statement that vanishes before
// a line that begins with `(`, an arrow that would come to stand on a line of its own, an argument that would begin on the next line.
// Next: strip.js.
'use strict';

const CONTINUES_STATEMENT = /[([`/]/;
const CONTINUES_EXPRESSION = /[([`]/;

// Blanks a statement; true, because nothing below it is of interest. Where the next line would be read as the previous statement's
// continuation, a semicolon remains.
function blankStatement(node, text) {
  text.blank(node.start, node.end);
  const before = text.previous(node.start);
  const after = text.next(node.end);
  const next = text.at(after);
  if (before === -1 || next === undefined || !text.breaksLine(node.end, after)) return true;
  const isSign = (next === '+' || next === '-') && text.at(after + 1) !== next;
  if ((isSign || CONTINUES_STATEMENT.test(next)) && text.at(before) !== ';') text.put(node.start, ';');
  return true;
}

// `x as T` at the end of a line, and the next one begins with `(`: TypeScript ends the statement there.
function endsInExpression(start, end, text) {
  const after = text.next(end);
  if (after > end && CONTINUES_EXPRESSION.test(text.at(after) ?? '') && text.breaksLine(end, after)) text.put(start, ';');
}

function fixArrow(node, text) {
  const { typeParameters, returnType } = node;
  if (typeParameters && node.async && text.breaksLine(typeParameters.start, typeParameters.end))
    moveParenthesis(typeParameters, text);
  if (!returnType) return;
  const parenthesis = text.previous(returnType.start);
  const arrow = text.next(returnType.end);
  if (!text.breaksLine(parenthesis, arrow)) return;
  // `)` and `=>` must share a line.
  text.blank(parenthesis, parenthesis + 1);
  text.put(returnType.end - 1, ')');
}

// `return <T>` and the parameters on the next line.
function fixArrowArgument(node, text) {
  const arrow = node.argument;
  const list = arrow?.type === 'ArrowFunctionExpression' && !arrow.async ? arrow.typeParameters : undefined;
  if (list && text.breaksLine(list.start, text.next(list.end))) moveParenthesis(list, text);
}

function moveParenthesis(list, text) {
  text.put(text.next(list.end), ' ');
  text.put(list.start, '(');
}

module.exports = { blankStatement, endsInExpression, fixArrow, fixArrowArgument };
