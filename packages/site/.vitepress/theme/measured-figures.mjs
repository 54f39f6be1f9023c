// The measured figures of the README, as a table of the landing page.

import { h } from 'vue';
import { data } from './figures.data.mjs';

const row = (tag, cells) =>
  h(
    'tr',
    cells.map((cell) => h(tag, cell)),
  );

export default function MeasuredFigures() {
  const body = data.rows.map(({ what, measured, comparison }) => row('td', [what, h('strong', measured), comparison]));
  return h('table', [h('thead', row('th', ['operation', 'measured', 'for comparison, in the same run'])), h('tbody', body)]);
}
