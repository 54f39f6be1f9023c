// Checks the width of lines: at most 100 columns for comments, 130 for code, 160 for Markdown.
//
// Tables, fenced blocks of Markdown, and lines with a token that cannot be divided, such as a URL
// or a key, are exempt.

export const WIDTHS = { comment: 100, code: 130, markdown: 160 };

const UNBREAKABLE = /\S{60}/;

const widthOf = (line) => [...line].length;

/** Returns the numbers of the lines that contain only a comment. */
function linesOfComments(comments) {
  const lines = new Set();
  for (const comment of comments) {
    if (comment.trailing) continue;
    for (const index of comment.lines.keys()) lines.add(comment.line + index);
  }
  return lines;
}

/** Returns the numbers of the lines inside fenced blocks. */
function fencedLines(lines) {
  const fenced = new Set();
  let isOpen = false;
  for (const [index, line] of lines.entries()) {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isOpen || isFence) fenced.add(index + 1);
    if (isFence) isOpen = !isOpen;
  }
  return fenced;
}

/** Returns the messages about lines that are too wide. `comments` is the list of extract.mjs. */
export function widthMessages(source, kind, comments) {
  const lines = source.split('\n');
  const isMarkdown = kind === 'markdown';
  const fenced = isMarkdown ? fencedLines(lines) : new Set();
  const commented = isMarkdown ? new Set() : linesOfComments(comments);
  return lines.flatMap((line, index) => {
    const number = index + 1;
    const rule = isMarkdown ? 'markdown' : commented.has(number) ? 'comment' : 'code';
    if (rule === 'code' && kind === 'patch') return []; // a patch contains lines of another project
    const isTable = rule !== 'code' && /^\s*(?:\/\/[/!]?|\*)?\s*\|/.test(line);
    if (widthOf(line) <= WIDTHS[rule] || isTable || fenced.has(number) || UNBREAKABLE.test(line)) return [];
    const message = `${widthOf(line)} columns, at most ${WIDTHS[rule]}`;
    return [{ line: number, rule: `${rule}-width`, message }];
  });
}
