// Extracts the comments of a file as pieces of prose, each with the number of its first line.

import { breaksIn } from './tokens.mjs';

/** Matches a comment that is a directive for a tool. */
const DIRECTIVE = /^\s*(?:biome-ignore\s+[\w/]+(?:\([^)]*\))?:|@ts-[\w-]+|<reference.*|#\s*sourceMappingURL.*)/;

/** Matches the marker of a line comment (`//`, `///`, `//!`) and one space. */
const MARKER = /^\/\/[/!]? ?/;

/** Matches drawings and columns of text, which contain no sentences. */
export const DRAWING = /[\u2500-\u257f\u25b2-\u25c6]|\S {3,}\S|^\s*[-=*_~]{4,}\s*$/;

function linesOfBlock(value) {
  const inner = value.replace(/^\/\*[*!]?/, '').replace(/\*+\/$/, '');
  return inner.split('\n').map((line, index) => (index === 0 ? line.trim() : line.replace(/^\s*\*? ?/, '').trimEnd()));
}

/**
 * Returns the comments among `tokens` as `{ line, lines, trailing }`. Consecutive line comments
 * with one marker are one comment. `trailing` means that code precedes the comment in its line.
 */
export function commentsOf(tokens) {
  const comments = [];
  let line = 1;
  let isLineEmpty = true;
  let previous; // the line comment that the next line comment may continue
  for (const { type, value } of tokens) {
    if (type === 'line' && !value.startsWith('#!')) {
      const marker = MARKER.exec(value)[0].trim();
      const text = value.replace(MARKER, '').trimEnd();
      if (previous && isLineEmpty && previous.marker === marker && previous.lastLine === line - 1) {
        previous.comment.lines.push(text);
        previous.lastLine = line;
      } else {
        const comment = { line, lines: [text], trailing: !isLineEmpty };
        comments.push(comment);
        previous = isLineEmpty ? { comment, marker, lastLine: line } : undefined;
      }
    } else if (type === 'block') {
      comments.push({ line, lines: linesOfBlock(value), trailing: !isLineEmpty });
      previous = undefined;
    }
    const breaks = breaksIn(value);
    if (breaks > 0) isLineEmpty = type !== 'block' && /\n\s*$/.test(value);
    else if (value.trim() !== '') isLineEmpty = false;
    line += breaks;
  }
  return comments.filter(({ lines }) => lines.some((text) => /\p{L}/u.test(text)));
}

/**
 * Returns the comments of a file in which `#` begins a comment. A `#` after a value is not
 * recognized.
 */
export function hashCommentsOf(source) {
  const comments = [];
  let open;
  for (const [index, text] of source.split('\n').entries()) {
    const [, content] = /^\s*#(?!!) ?(.*)$/.exec(text) ?? [];
    if (content === undefined) {
      open = undefined;
    } else if (open) {
      open.lines.push(content);
    } else {
      open = { line: index + 1, lines: [content], trailing: false };
      comments.push(open);
    }
  }
  return comments;
}

/** Returns the head of a patch, which explains the patch, as one comment. */
export function headOfPatch(source) {
  const [head] = source.split(/^(?:diff |--- |Index: )/m);
  return [{ line: 1, lines: head.trimEnd().split('\n'), trailing: false }];
}

/**
 * Matches a JSDoc tag and the name of its parameter. If the tag's content is code, matches the
 * whole line.
 */
const TAG =
  /^\s*@(?:(?:param|property|template)\s+(?:\{[^}]*\}\s*)?\S+\s*(?:-\s*)?|(?:example|default|type|typedef|see)\b.*|\w+\s*)/;

/**
 * Returns a comment as lines of Markdown, `{ text, number }`: a paragraph for each tag, and no
 * drawings or directives.
 */
export function paragraphsOf(comment) {
  const lines = [];
  let isFenced = false;
  for (const [index, text] of comment.lines.entries()) {
    const number = comment.line + index;
    const isFence = /^\s*(?:```|~~~)/.test(text);
    if (isFence || isFenced) lines.push({ text, number });
    else if (DRAWING.test(text)) lines.push({ text: '', number });
    else if (/^\s*@\w/.test(text)) lines.push({ text: '', number }, { text: text.replace(TAG, ''), number });
    else lines.push({ text: text.replace(DIRECTIVE, ''), number });
    if (isFence) isFenced = !isFenced;
  }
  if (isFenced) lines.push({ text: '```', number: comment.line });
  return lines;
}
