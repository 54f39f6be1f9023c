// The JSON of a run, read back from a file.

import { readFileSync } from 'node:fs';
import { UsageError } from '../config/usage-error.js';
import { SCHEMA as DENSITY } from '../density/report.js';
import { SCHEMA as LIFECYCLE } from '../lifecycle/report.js';
import { SCHEMA as POOL } from '../pool/report.js';
import { SCHEMA as COLDSTART } from '../report/report.js';
import type { ComparableReport } from './figures.js';

const SCHEMAS: readonly string[] = [COLDSTART, LIFECYCLE, DENSITY, POOL] satisfies ComparableReport['schema'][];

/** @throws `UsageError` when it is not the JSON of a run that can be compared. */
export function readReport(path: string): ComparableReport {
  let report: unknown;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path}: expected the JSON of a run: ${String(error)}`);
  }
  const schema = typeof report === 'object' && report !== null && 'schema' in report ? report.schema : undefined;
  if (typeof schema !== 'string' || !SCHEMAS.includes(schema))
    throw new UsageError(`${path}: expected schema ${SCHEMAS.join(', ')}, got ${JSON.stringify(schema)}`);
  return report as ComparableReport;
}
