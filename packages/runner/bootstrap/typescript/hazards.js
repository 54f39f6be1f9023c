// The places where a blank would change the meaning of the text after it, because JavaScript ends
// statements at line breaks. The first place is a removed statement before a line that begins with
// `(`. The second place is an arrow that would be on a line of its own. The third place is an
// argument that would begin on the next line. Next: strip.js.
'use strict';

const CONTINUES_STATEMENT = /[([`/]/;
const CONTINUES_EXPRESSION = /[([`]/;

// Blanks a statement. Returns true, because the statement's child nodes are blanked too. Puts a
// semicolon in the statement's place if the next line would continue the previous statement.
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

// Puts a semicolon between `x as T` at the end of a line and a next line that begins with `(`.
// TypeScript ends the statement between the two lines.
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
  // JavaScript requires `)` and `=>` on one line, so `)` is moved to the end of the type.
  text.blank(parenthesis, parenthesis + 1);
  text.put(returnType.end - 1, ')');
}

// Moves the parenthesis of `return <T>(...)` to the line of `return` if the parameters are on the
// next line.
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
