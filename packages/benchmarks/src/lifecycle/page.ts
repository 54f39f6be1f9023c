// The HTML page of a lifecycle run, made from the JSON alone.

import { legend, renderDocument, renderTable, section } from '../report/document.js';
import { countChart, lifecycleLegend, rangesChart, sizeChart, sizeLegend } from './charts.js';
import type { LifecycleReport } from './report.js';
import { lifecycleTables } from './tables.js';

const PEER = 'Dashed: what CubeSandbox (micro-VMs, 16 vCPU) has published.';

export function renderLifecycle(report: LifecycleReport): string {
  const tables = lifecycleTables(report).map(renderTable);
  const withLegend = (items: typeof lifecycleLegend, chart: string) => (chart === '' ? '' : legend(items) + chart);
  return renderDocument('Coldframe: save, branch, roll back, clone, sleep', report, [
    ...tables.slice(-1),
    section(
      'Where each operation stands',
      'One at a time. Dot: median; tick: p95; end of the bar: p99. Logarithmic.',
      rangesChart(report),
    ),
    section(
      'What one costs when there are more',
      `Wall time divided by n. ${PEER}`,
      withLegend(lifecycleLegend, countChart(report)),
    ),
    section(
      "What the guest's writing adds",
      `A snapshot, and a box from it to the first answer of the live runner in it. ${PEER}`,
      withLegend(sizeLegend, sizeChart(report)),
    ),
    ...tables.slice(0, -1),
  ]);
}
