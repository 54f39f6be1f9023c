// The HTML report of the cold-start matrix, made from the JSON alone.

import { SCENARIOS } from '../config/knobs.js';
import { batchChart } from './charts/batches.js';
import { distributionChart } from './charts/distribution.js';
import { phaseChart } from './charts/phases.js';
import { rangeChart } from './charts/ranges.js';
import { scenarioColor } from './charts/svg.js';
import { legend, renderDocument, renderTable, section } from './document.js';
import type { ColdstartReport } from './report.js';
import { allTables } from './tables.js';

export function renderPage(report: ColdstartReport): string {
  const tables = allTables(report).map(renderTable);
  const scenarios = legend(SCENARIOS.map((name) => ({ name, color: scenarioColor(name) })));
  return renderDocument('Coldframe cold starts', report, [
    ...tables.slice(-1),
    section(
      'Where everything stands',
      'Dot: median; tick: p95; end of the bar: p99. Logarithmic. All sequential samples.',
      rangeChart(report),
    ),
    section(
      'Cold start by batch size',
      'Full line: sequential; dashed: concurrent; whisker: p95. Logarithmic.',
      scenarios + batchChart(report),
    ),
    section('What a cold start is made of', 'Medians of the phases in the largest sequential batch.', phaseChart(report)),
    section(
      'Distribution of cold starts',
      'How many of 100 sequential starts are done by when.',
      scenarios + distributionChart(report),
    ),
    ...tables.slice(0, -1),
  ]);
}
