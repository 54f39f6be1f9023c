// Makes the errors of stripping a TypeScript program, as Node's stripper reports errors: a code, a
// message, and the lines with a mark. Next: index.js.
'use strict';

const TAB = '    ';

// Returns [line, column] of an index: lines count from 1, columns from 0, and a tab is four
// columns.
function place(source, index) {
  const before = source.slice(0, index).split('\n');
  return [before.length, before[before.length - 1].replaceAll('\t', TAB).length];
}

function problem(code, message, source, filename, start, end) {
  const [startLine, startColumn] = place(source, start);
  const [endLine, endColumn] = place(source, end);
  return {
    code,
    message,
    snippet: snippet(source, startLine, startColumn, endLine, endColumn),
    filename,
    startLine,
    startColumn,
    endLine,
    endColumn,
  };
}

// Returns the marked lines, with the line before and the line after. A single line has its mark
// below. Of several lines, the first and the last have a mark at the left.
function snippet(source, startLine, startColumn, endLine, endColumn) {
  const lines = source.split('\n').map((line) => line.replace(/\r$/, '').replaceAll('\t', TAB));
  const isLong = endLine > startLine;
  let text = '';
  for (let number = Math.max(startLine - 1, 1); number <= endLine + 1; number++) {
    const line = lines[number - 1];
    if (number > endLine && !line) break;
    const isEdge = number === startLine || number === endLine;
    text += `${isLong ? (isEdge ? '  > ' : TAB) : ''}${line}\n`;
    if (!isLong && isEdge && endColumn > startColumn)
      text += `${' '.repeat(startColumn)}${'^'.repeat(endColumn - startColumn)}\n`;
  }
  return text;
}

module.exports = { problem };
