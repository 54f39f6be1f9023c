// Reports words that are not the term of docs/glossary.md for a concept. `../words.json` lists the
// words.

import { textOf } from '../sentences.mjs';

/**
 * Compiles the entries into one regular expression. The number of the matching group is the number
 * of the entry.
 */
export function compile(entries) {
  const groups = entries.map(({ pattern }) => `(${pattern})`).join('|');
  return new RegExp(`(?<![\\w-])(?:${groups})(?![\\w-])`, 'giu');
}

export default function words({ Syntax, RuleError, report, locator, getFilePath }, { entries }) {
  const kind = getFilePath().endsWith('.md') ? 'docs' : 'source';
  const checked = entries.filter(({ only }) => only === undefined || only === kind);
  const pattern = compile(checked);
  const check = (node) => {
    const { text, offsetOf } = textOf(node);
    for (const found of text.matchAll(pattern)) {
      const entry = checked[found.slice(1).findIndex((group) => group !== undefined)];
      const padding = locator.at(offsetOf(found.index));
      report(node, new RuleError(`"${found[0]}": write ${entry.write}`, { padding }));
    }
  };
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check };
}
