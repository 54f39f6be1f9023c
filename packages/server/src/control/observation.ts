// The routes of samples and lines of sandboxes.

import { sandboxIdOf } from '../ids.js';
import type { LogEntry } from '../sandboxes/logs.js';
import type { Control, Routes } from './app.js';
import { IdPath, LogsQuery, ManyMetricsQuery, MetricsQuery, metricResponse, OldLogsQuery } from './schemas/sandboxes.js';

const tags = ['sandboxes'];
const MOST_SANDBOXES = 100;

/** Adds the routes. */
export function addObservationRoutes(app: Routes, { sandboxes, stated }: Control): void {
  const one = { params: IdPath, querystring: MetricsQuery, tags, summary: 'Samples of the use of a sandbox' };
  app.get('/sandboxes/:id/metrics', { schema: one }, async ({ tenant, params, query }) => {
    const { id, state } = sandboxes.find(tenant, sandboxIdOf(params.id));
    if (state === 'paused') return [];
    const { sandbox } = sandboxes.live(tenant, id);
    // The end is a full second, and samples of that second belong to the interval.
    const end = query.end === undefined ? Number.POSITIVE_INFINITY : query.end * 1_000 + 999;
    const samples = await sandbox.samples.between(query.start * 1_000, end);
    return samples.map((sample) => metricResponse(sample, stated));
  });
  const many = { querystring: ManyMetricsQuery, tags, summary: 'The newest samples of several sandboxes' };
  app.get('/sandboxes/metrics', { schema: many }, async ({ tenant, query }) => {
    const found: Record<string, unknown> = {};
    const ids = query.sandbox_ids.split(',').map(sandboxIdOf).slice(0, MOST_SANDBOXES);
    for (const id of ids) {
      const live = sandboxes.running(id);
      if (live?.record.tenant !== tenant) continue;
      const sample = await live.sandbox.samples.newest();
      if (sample !== undefined) found[id] = metricResponse(sample, stated);
    }
    return { sandboxes: found };
  });
  const old = { params: IdPath, querystring: OldLogsQuery, tags, summary: 'Lines of the programs of a sandbox' };
  app.get('/sandboxes/:id/logs', { schema: old }, ({ tenant, params, query }) => {
    const entries = logsOf(tenant, sandboxIdOf(params.id)).select({
      cursor: query.start,
      limit: query.limit,
      direction: 'forward',
    });
    return {
      // Older clients and E2B's command parse each line.
      logs: entries.map(({ at, level, message, fields }) => ({
        timestamp: new Date(at).toISOString(),
        line: JSON.stringify({ ...fields, level, logger: 'process', message }),
      })),
      logEntries: entries.map(wireEntry),
    };
  });
  const logs = { params: IdPath, querystring: LogsQuery, tags, summary: 'Lines of the programs of a sandbox' };
  app.get('/v2/sandboxes/:id/logs', { schema: logs }, ({ tenant, params, query }) => ({
    logs: logsOf(tenant, sandboxIdOf(params.id)).select(query).map(wireEntry),
  }));

  const logsOf = (tenant: string, id: string) => sandboxes.live(tenant, id).sandbox.logs;
}

const wireEntry = ({ at, level, message, fields }: LogEntry) => ({
  timestamp: new Date(at).toISOString(),
  level,
  message,
  fields,
});
