// A statement begins with its subject, not with a relative clause. A sentence that ends with a
// question mark, the head of a table, and a message that begins with `{field}` are exempt.

import { sentencesOf, textOf } from '../sentences.mjs';

const START = /^[^\w{]*((?:Wh(?:at|ich|o|om|ose|atever|ichever|oever)|Those|Of (?:those|which|whom|these)|Such (?:a one|as))\b)/i;

export default function sentenceStart({ Syntax, RuleError, report, locator }) {
  const check = (node) => {
    const { text, offsetOf } = textOf(node);
    for (const sentence of sentencesOf(text)) {
      const [, start] = START.exec(sentence.text) ?? [];
      if (!start || /\?["”’)]*$/.test(sentence.text)) continue;
      const message = `"${start}" begins a sentence: name the subject ("If the snapshot failed, the held programs resume.")`;
      report(node, new RuleError(message, { padding: locator.at(offsetOf(sentence.index)) }));
    }
  };
  const isHead = (cell) => cell.parent.parent.children[0] === cell.parent;
  return {
    [Syntax.Paragraph]: check,
    [Syntax.Header]: check,
    [Syntax.TableCell]: (cell) => {
      if (!isHead(cell)) check(cell);
    },
  };
}
