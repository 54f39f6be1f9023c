// Renders the HTML page of a report: one file that loads no other files.
//
// The page shows the machine, the warnings, the targets, the charts, and then the tables. The page
// is made from the JSON alone. Next: `lines.ts` and `ranges.ts` for the charts that benchmarks
// share.

import type { Hardware } from '../machine/hardware.js';
import type { Table } from '../suite/table.js';
import { seconds } from '../suite/text.js';
import { PAGE_STYLE } from './style.js';
import { el, escapeText } from './svg.js';

export interface Chart {
  heading: string;
  note: string;
  /** Names beside their colours, above the drawing. */
  legend?: readonly { name: string; color: string }[];
  /** The SVG. A chart with an empty drawing is omitted. */
  drawing: string;
}

export interface PageContent {
  heading: string;
  startedAt: string;
  durationMs: number;
  hardware: Hardware;
  warnings: readonly string[];
  charts: readonly Chart[];
  /**
   * The tables of the page. The last table is shown first, before the charts. The last table has
   * the targets, if the benchmark has targets.
   */
  tables: readonly Table[];
}

export function renderDocument({ heading, hardware, startedAt, durationMs, warnings, charts, tables }: PageContent): string {
  const { cpu, cores, ramGib, kernel, arch, node } = hardware;
  const machine = `${cpu}, ${cores} processors, ${ramGib} GiB, Linux ${kernel} ${arch}`;
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escapeText(`${heading}, ${startedAt}`)}</title><style>${PAGE_STYLE}</style>`,
    el('h1', {}, escapeText(heading)),
    el('p', {}, escapeText(`${machine}; Node ${node}; ${startedAt}; the run took ${seconds(durationMs)}.`)),
    renderWarnings(warnings),
    ...tables.slice(-1).map(renderTable),
    ...charts.map(renderChart),
    ...tables.slice(0, -1).map(renderTable),
    '</html>\n',
  ].join('\n');
}

function renderChart({ heading, note, legend, drawing }: Chart): string {
  if (drawing === '') return '';
  const body = (legend ? renderLegend(legend) : '') + drawing;
  return `${el('h2', {}, escapeText(heading))}${el('p', {}, escapeText(note))}${el('div', { class: 'scroll' }, body)}`;
}

const renderLegend = (items: NonNullable<Chart['legend']>): string =>
  el(
    'p',
    { class: 'legend' },
    ...items.map(({ name, color }) => el('span', {}, `<i style="background:${color}"></i>${escapeText(name)}`)),
  );

const renderWarnings = (warnings: readonly string[]): string =>
  warnings.length === 0
    ? el('p', {}, 'No warnings.')
    : el('h2', {}, 'Warnings') + el('ul', { class: 'warnings' }, ...warnings.map((text) => el('li', {}, escapeText(text))));

function renderTable({ title, head, rows, textColumns }: Table): string {
  const cell = (name: string) => (text: string, column: number) => {
    const verdict = ['met', 'missed', 'unmeasured'].includes(text) ? text : undefined;
    const classes = [textColumns.includes(column) ? 'words' : undefined, verdict].filter(Boolean).join(' ');
    return el(name, { class: classes || undefined }, escapeText(text));
  };
  const row = (name: string) => (cells: readonly string[]) => el('tr', {}, ...cells.map(cell(name)));
  const body = el('table', {}, el('thead', {}, row('th')(head)), el('tbody', {}, ...rows.map(row('td'))));
  return `${el('h2', {}, escapeText(title))}${el('div', { class: 'scroll' }, body)}`;
}
