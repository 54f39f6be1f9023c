// Where a report goes: tables and warnings to stderr for people, JSON to stdout or a file, a page to a file.

import { writeFileSync } from 'node:fs';
import { seconds, textTable } from '../report/format.js';
import { toJson } from '../report/report.js';
import type { Table } from '../report/tables.js';
import { toStderr } from './progress.js';

export function showTables(tables: readonly Table[], warnings: readonly string[], durationMs: number): void {
  for (const { title, head, rows, textColumns } of tables) toStderr(`\n${title}\n${textTable(head, rows, textColumns)}`);
  if (warnings.length > 0) toStderr(`\nWarnings\n${warnings.map((warning) => `- ${warning}`).join('\n')}`);
  toStderr(`\nTook ${seconds(durationMs)}.`);
}

export function writeReport(
  report: object,
  out: string | undefined,
  page: { path: string | undefined; render: () => string },
): void {
  const json = `${toJson(report)}\n`;
  if (out === undefined) process.stdout.write(json);
  else writeFileSync(out, json);
  if (page.path !== undefined) writeFileSync(page.path, page.render());
}
