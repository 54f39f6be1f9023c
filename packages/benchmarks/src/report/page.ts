// The HTML report: one file without any outside asset, made from the JSON alone.

import { SCENARIOS } from '../config/knobs.js';
import { batchChart } from './charts/batches.js';
import { distributionChart } from './charts/distribution.js';
import { phaseChart } from './charts/phases.js';
import { rangeChart } from './charts/ranges.js';
import { el, escapeText, scenarioColor } from './charts/svg.js';
import { seconds } from './format.js';
import { PAGE_STYLE } from './page-style.js';
import type { ColdstartReport } from './report.js';
import { allTables, type Table } from './tables.js';

export function renderPage(report: ColdstartReport): string {
  const { hardware, startedAt, durationMs } = report;
  const machine = `${hardware.cpu}, ${hardware.cores} processors, ${hardware.ramGib} GiB, Linux ${hardware.kernel} ${hardware.arch}`;
  const tables = allTables(report).map(renderTable);
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>Coldframe cold starts, ${escapeText(startedAt)}</title><style>${PAGE_STYLE}</style>`,
    el('h1', {}, 'Coldframe cold starts'),
    el('p', {}, escapeText(`${machine}; Node ${hardware.node}; ${startedAt}; the run took ${seconds(durationMs)}.`)),
    renderWarnings(report.warnings),
    ...tables.slice(-1),
    section(
      'Where everything stands',
      'Dot: median; tick: p95; end of the bar: p99. Logarithmic. All sequential samples.',
      rangeChart(report),
    ),
    section(
      'Cold start by batch size',
      'Full line: sequential; dashed: concurrent; whisker: p95. Logarithmic.',
      legend() + batchChart(report),
    ),
    section('What a cold start is made of', 'Medians of the phases in the largest sequential batch.', phaseChart(report)),
    section(
      'Distribution of cold starts',
      'How many of 100 sequential starts are done by when.',
      legend() + distributionChart(report),
    ),
    ...tables.slice(0, -1),
    '</html>\n',
  ].join('\n');
}

const section = (heading: string, note: string, body: string): string =>
  body === ''
    ? ''
    : `${el('h2', {}, escapeText(heading))}${el('p', {}, escapeText(note))}${el('div', { class: 'scroll' }, body)}`;

const legend = (): string =>
  el(
    'p',
    { class: 'legend' },
    ...SCENARIOS.map((name) => el('span', {}, `<i style="background:${scenarioColor(name)}"></i>${name}`)),
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
