// Puts the source line above the stack of an error that a `vm` script threw, or of the syntax error
// of a script (node_errors.cc DecorateErrorStack). Next: ../internal-bindings/contextify.js;
// fatal.js, which quotes no line above a decorated error.
'use strict';

const context = require('../context.js');
const { quote } = require('./source-lines.js');

/**
 * Decorates `error`, unless the error is decorated or no line can be quoted. `code` is the text
 * that was compiled as `filename`. The number of the text's first line is `lineOffset` + 1.
 */
function decorateStack(error, code, filename, lineOffset) {
  const { arrow_message_private_symbol: arrow, decorated_private_symbol: decorated } = context.privateSymbols;
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null || error[decorated]) return;
  const location = native.throwLocation(error) ?? native.errorPosition(error);
  const quoted = error[arrow] ?? quoteFrom(location, code, filename, lineOffset);
  const { stack } = error;
  if (quoted === undefined || typeof stack !== 'string') return;
  error.stack = `${quoted}\n${stack}`;
  error[decorated] = true;
}

function quoteFrom(location, code, filename, lineOffset) {
  if (location === undefined || location[0] !== filename) return quote(location);
  const [file, number, column, length = 1] = location;
  const { StringPrototypeSlice, RegExpPrototypeSymbolReplace, RegExpPrototypeSymbolSplit } = context.primordials;
  const line = RegExpPrototypeSymbolSplit(/\r?\n/, code)[number - 1 - lineOffset];
  if (line === undefined) return undefined;
  const indent = RegExpPrototypeSymbolReplace(/[^\t]/g, StringPrototypeSlice(line, 0, Math.max(column - 1, 0)), ' ');
  return `${file}:${number}\n${line}\n${indent}${'^'.repeat(length)}\n`;
}

module.exports = { decorateStack };
