// The HTML frame of every report page: one file without any outside asset.

import type { Hardware } from '../machine/hardware.js';
import { el, escapeText } from './charts/svg.js';
import { seconds } from './format.js';
import { PAGE_STYLE } from './page-style.js';
import type { Table } from './tables.js';

export interface RunHead {
  startedAt: string;
  durationMs: number;
  hardware: Hardware;
  warnings: readonly string[];
}

/** The whole page: its heading, the machine, the warnings, and then `parts`. */
export function renderDocument(heading: string, { hardware, startedAt, durationMs, warnings }: RunHead, parts: string[]): string {
  const machine = `${hardware.cpu}, ${hardware.cores} processors, ${hardware.ramGib} GiB, Linux ${hardware.kernel} ${hardware.arch}`;
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escapeText(`${heading}, ${startedAt}`)}</title><style>${PAGE_STYLE}</style>`,
    el('h1', {}, escapeText(heading)),
    el('p', {}, escapeText(`${machine}; Node ${hardware.node}; ${startedAt}; the run took ${seconds(durationMs)}.`)),
    renderWarnings(warnings),
    ...parts,
    '</html>\n',
  ].join('\n');
}

export const section = (heading: string, note: string, body: string): string =>
  body === ''
    ? ''
    : `${el('h2', {}, escapeText(heading))}${el('p', {}, escapeText(note))}${el('div', { class: 'scroll' }, body)}`;

/** Names beside their colours. */
export const legend = (items: readonly { name: string; color: string }[]): string =>
  el(
    'p',
    { class: 'legend' },
    ...items.map(({ name, color }) => el('span', {}, `<i style="background:${color}"></i>${escapeText(name)}`)),
  );

const renderWarnings = (warnings: readonly string[]): string =>
  warnings.length === 0
    ? el('p', {}, 'No warnings.')
    : el('h2', {}, 'Warnings') + el('ul', { class: 'warnings' }, ...warnings.map((text) => el('li', {}, escapeText(text))));

export function renderTable({ title, head, rows, textColumns }: Table): string {
  const cell = (name: string) => (text: string, column: number) => {
    const verdict = ['met', 'missed', 'unmeasured'].includes(text) ? text : undefined;
    const classes = [textColumns.includes(column) ? 'words' : undefined, verdict].filter(Boolean).join(' ');
    return el(name, { class: classes || undefined }, escapeText(text));
  };
  const row = (name: string) => (cells: readonly string[]) => el('tr', {}, ...cells.map(cell(name)));
  const body = el('table', {}, el('thead', {}, row('th')(head)), el('tbody', {}, ...rows.map(row('td'))));
  return `${el('h2', {}, escapeText(title))}${el('div', { class: 'scroll' }, body)}`;
}
