// Reads and writes the baseline of the gate. The baseline is a JSON file with the figures and the
// threshold of each row, and with the machine of the figures.
//
// The thresholds of the file replace the thresholds of the rows, so that a project can adapt a
// threshold to its machines. An update keeps the thresholds of the file.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Hardware } from '../machine/hardware.js';
import { toJson } from '../suite/report.js';
import { UsageError } from '../suite/usage-error.js';

export const BASELINE_SCHEMA = 'coldframe-gate-baseline/1';

const figures = z.object({
  count: z.number().int().min(1),
  mean: z.number(),
  p50: z.number().positive(),
  p95: z.number(),
  p99: z.number(),
  min: z.number(),
  max: z.number(),
  mad: z.number().min(0),
});

const baselineShape = z.object({
  schema: z.literal(BASELINE_SCHEMA),
  measuredAt: z.string(),
  hardware: z.object({ cpu: z.string(), cores: z.number(), kernel: z.string(), node: z.string() }),
  rows: z.record(z.string(), z.object({ threshold: z.number().min(1), value: figures })),
});

export type Baseline = z.infer<typeof baselineShape>;

/** Reads a baseline. Returns `undefined` if the file does not exist. @throws `UsageError` */
export function readBaseline(path: string): Baseline | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return baselineShape.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error).replaceAll('\n', ' ') : String(error);
    throw new UsageError(`${path}: expected a baseline of bench:gate: ${problem}`);
  }
}

export const writeBaseline = (path: string, baseline: Baseline): void => writeFileSync(path, `${toJson(baseline)}\n`);

/** Returns the differences between the machine of a baseline and the machine of a run. */
export function machineDifferences({ hardware }: Baseline, machine: Hardware): string[] {
  const names = ['cpu', 'cores', 'kernel', 'node'] as const;
  return names.flatMap((name) => (hardware[name] === machine[name] ? [] : [`${name} ${hardware[name]} is ${machine[name]}`]));
}
