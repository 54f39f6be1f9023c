// A sentence has at most 25 words. Tables and headings are exempt.

import { countWords, sentencesOf, textOf } from '../sentences.mjs';

export const MAX_WORDS = 25;

export default function sentenceLength({ Syntax, RuleError, report, locator }) {
  return {
    [Syntax.Paragraph](node) {
      const { text, offsetOf } = textOf(node);
      for (const sentence of sentencesOf(text)) {
        const words = countWords(sentence.text);
        if (words <= MAX_WORDS) continue;
        const message = `${words} words, at most ${MAX_WORDS}: make two sentences of it ("${opening(sentence.text)} …")`;
        report(node, new RuleError(message, { padding: locator.at(offsetOf(sentence.index)) }));
      }
    },
  };
}

const opening = (text) => text.split(' ').slice(0, 5).join(' ').replaceAll('\ue000', '.');
