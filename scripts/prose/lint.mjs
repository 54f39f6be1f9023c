// Lints one file: its prose by textlint with the rules of rules/, the widths of its lines by
// widths.mjs.

import { readFileSync } from 'node:fs';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { fromRoot } from '../build/paths.mjs';
import { documentOf, piecesOf } from './extract.mjs';
import { isExempt } from './files.mjs';
import sentenceLength from './rules/sentence-length.mjs';
import sentenceStart from './rules/sentence-start.mjs';
import words from './rules/words.mjs';
import { sentencesOf, textOf } from './sentences.mjs';
import { widthMessages } from './widths.mjs';

const entries = JSON.parse(readFileSync(fromRoot('scripts/prose/words.json'), 'utf8'));

const rules = [
  { ruleId: 'sentence-length', rule: sentenceLength },
  { ruleId: 'sentence-start', rule: sentenceStart },
  { ruleId: 'words', rule: words, options: { entries } },
];

const kernel = new TextlintKernel();

const plugins = [{ pluginId: 'markdown', plugin: markdown.default ?? markdown }];

const run = (path, text, chosen) => kernel.lintText(text, { ext: '.md', filePath: path, plugins, rules: chosen });

/**
 * Returns the messages of a file, `{ line, rule, message }`, in the order of its lines. `kind` is a
 * kind of files.mjs.
 */
export async function lint(path, source, kind) {
  const pieces = piecesOf(source, kind, path);
  const { text, lineOf } = documentOf(source, pieces);
  const { messages } = await run(path, text, rules);
  const prose = messages.map(({ line, ruleId, message }) => ({ line: lineOf(line), rule: ruleId, message }));
  const all = [...prose, ...widthMessages(source, kind, pieces?.comments ?? [])];
  return all.filter(({ rule }) => !isExempt(path, rule)).sort((a, b) => a.line - b.line);
}

/** Returns the sentences of a Markdown file, `{ line, text }`: of paragraphs, lists and tables. */
export async function docSentences(path, source) {
  const found = [];
  const collect = ({ Syntax, getSource }) => {
    const visit = (node) => {
      const { text, offsetOf } = textOf(node);
      const sentences = sentencesOf(text);
      for (const [at, { index }] of sentences.entries()) {
        const end = at + 1 < sentences.length ? offsetOf(sentences[at + 1].index) : undefined;
        const written = getSource(node)
          .slice(offsetOf(index), end)
          .replace(/\s*\|\s*$/, '');
        const line = node.loc.start.line + getSource(node).slice(0, offsetOf(index)).split('\n').length - 1;
        found.push({ line, text: written.trim() });
      }
    };
    return { [Syntax.Paragraph]: visit, [Syntax.TableCell]: visit };
  };
  await run(path, source, [{ ruleId: 'collect', rule: collect }]);
  return found;
}
