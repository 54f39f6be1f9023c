// Wraps prose that is too wide: comments at 100 columns, Markdown at 160.
//
// Only paragraphs with a line beyond the width change. Tables, fenced blocks, drawings and
// the tags of JSDoc stay unchanged.

import { DRAWING } from './comments.mjs';
import { piecesOf } from './extract.mjs';
import { WIDTHS, widthMessages } from './widths.mjs';

/**
 * Matches a line that belongs to no paragraph: empty, a heading, a table, a tag, a directive, HTML,
 * or indented as code.
 */
const NO_PROSE = /^\s*$|^\s*(?:#{1,6} |\||@(?:default|example)|<[a-z/!]|biome-ignore|\[[^\]]+\]: )|^ {4,}\S/i;

/** Matches the marker of a list item, with its indentation. */
const ITEM = /^(\s*(?:[-*+]|\d+[.)]) +)/;

/**
 * Matches the beginning of a paragraph that needs no empty line before it. Examples are an item, a
 * tag, and `Next:` at the end of an opening.
 */
const BEGINS_PARAGRAPH = /^\s*(?:(?:[-*+]|\d+[.)]) +|@\w|(?:Next|Why|What): )/;

/** Matches a word that would begin a list or a heading at the beginning of a line. */
const UNSAFE_START = /^(?:[-*+|>]|#{1,6}|\d+[.)])$/;

/** Fills `words` into lines of at most `width` columns. */
function fill(words, width, first, rest) {
  const lines = [];
  let line = first;
  let isEmpty = true;
  for (const word of words) {
    const fits = [...line].length + 1 + [...word].length <= width;
    if (isEmpty) line += word;
    else if (fits || UNSAFE_START.test(word)) line += ` ${word}`;
    else {
      lines.push(line);
      line = rest + word;
    }
    isEmpty = false;
  }
  return [...lines, line];
}

/** Wraps each paragraph of `lines` that has a line beyond `width`. */
export function wrapLines(lines, width) {
  const out = [];
  let paragraph = [];
  let isFenced = false;
  const flush = () => {
    if (paragraph.some((line) => [...line].length > width)) {
      const [first] = paragraph;
      const marker = ITEM.exec(first)?.[1] ?? /^\s*/.exec(first)[0];
      const words = [first.slice(marker.length), ...paragraph.slice(1)].join(' ').trim().split(/\s+/);
      const indent = paragraph.length > 1 && !ITEM.test(first) ? /^\s*/.exec(paragraph[1])[0] : ' '.repeat(marker.length);
      out.push(...fill(words, width, marker, indent));
    } else out.push(...paragraph);
    paragraph = [];
  };
  for (const line of lines) {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence || isFenced || DRAWING.test(line) || (NO_PROSE.test(line) && !(paragraph.length > 0 && /^ {4,}\S/.test(line)))) {
      flush();
      out.push(line);
      if (isFence) isFenced = !isFenced;
    } else {
      if (BEGINS_PARAGRAPH.test(line)) flush();
      paragraph.push(line);
    }
  }
  flush();
  return out;
}

const prefixed = (prefix, lines) => lines.map((line) => (prefix + line).trimEnd());

/** Wraps a comment whose every line begins with `//`, `///`, `//!` or `#`. */
function wrapLineComment(lines, indent, marker, width) {
  const contents = lines.map((line) => line.slice(indent.length + marker.length).replace(/^ /, ''));
  const prefix = `${indent}${marker} `;
  return prefixed(prefix, wrapLines(contents, width - prefix.length));
}

/**
 * Wraps a block comment whose lines begin with a star. A block of a single line also becomes a
 * starred block.
 */
function wrapStarredBlock(lines, indent, marker, width) {
  const contents = lines.map((line, at) =>
    at === 0 ? line.slice(indent.length + marker.length) : line.replace(/^\s*\*(?!\/)/, ''),
  );
  const texts = contents.map((text) => text.replace(/\s*\*\/\s*$/, '').replace(/^ /, ''));
  const body = texts.filter((text, at) => text !== '' || (at > 0 && at < texts.length - 1));
  const prefix = `${indent} * `;
  return [`${indent}${marker}`, ...prefixed(prefix, wrapLines(body, width - prefix.length)), `${indent} */`];
}

/** Wraps a block comment without stars. Its lines align with the first word. */
function wrapPlainBlock(lines, indent, width) {
  const opening = `${indent}/* `;
  const align = new RegExp(`^ {0,${opening.length}}`);
  const contents = lines.map((line, at) =>
    (at === 0 ? line.slice(opening.length) : line.replace(align, '')).replace(/\s*\*\/\s*$/, ''),
  );
  const wrapped = wrapLines(contents, width - opening.length - ' */'.length);
  const rest = prefixed(' '.repeat(opening.length), wrapped.slice(1));
  const all = [opening + wrapped[0], ...rest];
  return [...all.slice(0, -1), `${all.at(-1)} */`];
}

/**
 * Returns the lines of a comment, wrapped; the lines keep the comment's indentation and markers.
 */
function wrapComment(lines, width) {
  const [, indent, marker] = /^(\s*)(\/\/[/!]?|\/\*\*?|#)/.exec(lines[0]) ?? [];
  if (marker === undefined) return lines;
  if (!marker.startsWith('/*')) return wrapLineComment(lines, indent, marker, width);
  const hasStars = marker === '/**' || lines.slice(1).some((line) => /^\s*\*(?!\/)/.test(line));
  return hasStars ? wrapStarredBlock(lines, indent, marker, width) : wrapPlainBlock(lines, indent, width);
}

/** Returns `source` with its prose wrapped. `kind` is a kind of files.mjs. */
export function wrap(source, kind, path) {
  const lines = source.split('\n');
  if (kind === 'markdown') return wrapLines(lines, WIDTHS.markdown).join('\n');
  if (kind === 'patch') return source;
  const { comments } = piecesOf(source, kind, path);
  const wide = new Set(
    widthMessages(source, kind, comments).flatMap(({ line, rule }) => (rule === 'comment-width' ? [line] : [])),
  );
  // The last comment is wrapped first, so that the line numbers of earlier comments stay valid.
  for (const { line, lines: texts, trailing } of comments.toReversed()) {
    if (trailing || !texts.some((_, at) => wide.has(line + at))) continue;
    const written = lines.slice(line - 1, line - 1 + texts.length);
    if (/^\s*\/\*/.test(written[0]) && !/\*\/\s*$/.test(written.at(-1))) continue; // code follows the comment
    lines.splice(line - 1, texts.length, ...wrapComment(written, WIDTHS.comment));
  }
  return lines.join('\n');
}
