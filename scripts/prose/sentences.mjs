// Splits a node of the document into sentences.
//
// Code spans and quotations are literals: each literal counts as one word of its sentence. Every
// index in the text maps to an offset in the source.

/**
 * The text in place of a code span: an upper-case letter, because a sentence may begin with a code
 * span.
 */
const CODE = 'X';

/** Fills the place of a literal: a private-use character that no word of words.json matches. */
const FILL = '\ue000';

const ABBREVIATIONS = /\b(?:e\.g|i\.e|vs|etc|cf|approx|no)\.(?=\s)/gi;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Appends the text of `node` to `out`, with the offset of each character in the source. */
function flatten(node, out) {
  const push = (text, offset, step) => {
    for (let at = 0; at < text.length; at++) {
      out.text += text[at];
      out.offsets.push(offset + at * step);
    }
  };
  if (node.type === 'Str') push(node.value.replace(/\s/g, ' '), node.range[0], 1);
  else if (node.type === 'Code') push(CODE, node.range[0], 0);
  else if (node.type === 'Break') push(' ', node.range[0], 0);
  else if (node.type === 'Html') push(FILL, node.range[0], 0);
  else for (const child of node.children ?? []) flatten(child, out);
  return out;
}

/**
 * Replaces the inside of a quotation. The first letter is upper case, because a sentence may begin
 * with a quotation.
 */
const hide = (text) => text[0] + CODE + FILL.repeat(text.length - 3) + text.at(-1);

/**
 * Returns the text of a node with literals hidden, and `offsetOf`, which maps an index to an offset
 * in the node.
 */
export function textOf(node) {
  const { text, offsets } = flatten(node, { text: '', offsets: [] });
  return {
    text: text.replace(/"[^"]{1,160}"|“[^”]{1,160}”/g, hide),
    offsetOf: (index) => (offsets[index] ?? node.range[0]) - node.range[0],
  };
}

/** Returns the sentences of a node: `{ text, index }`. */
export function sentencesOf(text) {
  const shielded = text.replace(ABBREVIATIONS, (found) => found.replaceAll('.', FILL));
  const sentences = [];
  for (const { segment, index } of segmenter.segment(shielded)) {
    const start = index + (segment.length - segment.trimStart().length);
    const sentence = text.slice(start, index + segment.trimEnd().length);
    if (sentence) sentences.push({ text: sentence, index: start });
  }
  return sentences;
}

/** Matches a list of code spans, such as a list of error codes. */
const LIST_OF_CODES = new RegExp(`\\b${CODE}(?:(?:,| and| or|, and|, or| \\/|) ${CODE}\\b)+`, 'g');

/** Counts the words of a sentence. A literal is one word, and so is a list of code spans. */
export function countWords(sentence) {
  return sentence.replace(LIST_OF_CODES, CODE).match(/[\p{L}\p{N}\ue000][\p{L}\p{N}\ue000'’.:/_–-]*/gu)?.length ?? 0;
}
