// Turns a file into the Markdown document that the linter reads: the file itself, or its comments
// and the names of its tests.
//
// Each line of the document has the number of its line in the file. Next: lint.mjs.

import { commentsOf, hashCommentsOf, headOfPatch, paragraphsOf } from './comments.mjs';
import { testNamesOf } from './test-names.mjs';
import { tokensOf } from './tokens.mjs';

const IS_TEST = /\.test\.\w+$|(^|\/)tests?\//;

/**
 * Returns the comments of a file and the names of its tests. Returns undefined for Markdown, which
 * is already a document.
 */
export function piecesOf(source, kind, path) {
  if (kind === 'markdown') return undefined;
  if (kind === 'hash') return { comments: hashCommentsOf(source), tests: [] };
  if (kind === 'patch') return { comments: headOfPatch(source), tests: [] };
  const tokens = tokensOf(source, kind);
  const hasTests = kind === 'rust' || IS_TEST.test(path);
  return { comments: commentsOf(tokens), tests: hasTests ? testNamesOf(tokens, kind) : [] };
}

/**
 * Returns the document of a file: `{ text, lineOf }`. `lineOf` maps a line of `text` to a line of
 * the file.
 */
export function documentOf(source, pieces) {
  if (!pieces) return { text: source, lineOf: (line) => line };
  const { comments, tests } = pieces;
  const lines = [
    ...comments.flatMap((comment) => [...paragraphsOf(comment), { text: '', number: comment.line }]),
    ...tests.flatMap(({ name, line }) => [
      { text: escapeStart(name), number: line },
      { text: '', number: line },
    ]),
  ];
  return { text: lines.map(({ text }) => text).join('\n'), lineOf: (line) => lines[line - 1]?.number ?? 1 };
}

/**
 * Keeps the first characters of a test's name from being read as a heading, a list or a quotation.
 */
const escapeStart = (name) => name.replace(/^(\s*)([#>+*-]|\d+\.)(?=\s)/, '$1\\$2');
