// Reads the table of measured figures from the README, when the site is built. The README is the
// only place of the figures.

import { readFileSync } from 'node:fs';

const readme = new URL('../../../../README.md', import.meta.url);

const text = (cell) => cell.trim().replaceAll('`', '');

/** Returns the rows of the table below the heading "How fast". */
export function figuresOf(markdown) {
  const [, section] = /^## How fast\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(markdown) ?? [];
  const lines = section?.split('\n').filter((line) => line.startsWith('|')) ?? [];
  const rows = lines.slice(2).map((line) => line.split('|').slice(1, 4).map(text));
  if (rows.length < 4) throw new Error('README.md has no table of figures below "How fast"');
  return rows.map(([what, measured, comparison]) => ({ what, measured, comparison }));
}

export default {
  watch: ['../../../../README.md'],
  load: () => ({ rows: figuresOf(readFileSync(readme, 'utf8')) }),
};
