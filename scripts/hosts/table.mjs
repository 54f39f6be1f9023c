// The table of hosts and features in docs/hosts.md: made from the results, and compared with the
// page.

import { readFileSync, writeFileSync } from 'node:fs';
import { fromRoot } from '../build/paths.mjs';

const PAGE = fromRoot('docs/hosts.md');
const [BEGIN, END] = ['<!-- measured by `pnpm test:hosts --write` -->\n\n', '\n\n<!-- end of the table -->'];

/** Makes the table as Markdown: a row for each feature, a column for each host. */
export function table(hosts, features, cellOf) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const lines = [row(['feature', ...hosts]), row(['---', ...hosts.map(() => '---')])];
  for (const feature of features) lines.push(row([feature, ...hosts.map((host) => cellOf(host, feature))]));
  return lines.join('\n');
}

function split(text) {
  const begin = text.indexOf(BEGIN) + BEGIN.length;
  return [text.slice(0, begin), text.slice(begin, text.indexOf(END)), text.slice(text.indexOf(END))];
}

/** Returns the table in the page. */
export const readTable = () => split(readFileSync(PAGE, 'utf8'))[1];

/** Replaces the table in the page. */
export function writeTable(lines) {
  const [before, , after] = split(readFileSync(PAGE, 'utf8'));
  writeFileSync(PAGE, `${before}${lines}${after}`);
}
