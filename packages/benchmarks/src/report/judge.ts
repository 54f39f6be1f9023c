// A promise with a number, and the figure of a run beside it. All benchmarks judge with this one function.
//
// What could not be measured is `unmeasured`, which is not met.

export interface TargetResult {
  /** Its row in docs/specification.md, where the benchmark names it. */
  id?: string;
  what: string;
  unit: 'ms' | 'starts/s' | 'KiB' | 'MB' | '×' | '%' | '';
  /** The bound; `atLeast` says on which side of it a good figure lies. */
  bound: number;
  atLeast: boolean;
  measured: number | null;
  verdict: 'met' | 'missed' | 'unmeasured';
}

export type Draft = Omit<TargetResult, 'verdict' | 'measured' | 'atLeast'> & { measured: number | undefined; atLeast?: boolean };

/** A row of the specification; a test holds `bound` against it, so that it stands here as a number. */
export const target = (id: string, what: string, bound: number, unit: Draft['unit'], measured: number | undefined): Draft => ({
  id,
  what,
  unit,
  bound,
  measured,
});

export function judge({ measured, atLeast = false, ...rest }: Draft): TargetResult {
  if (measured === undefined || Number.isNaN(measured)) return { ...rest, atLeast, measured: null, verdict: 'unmeasured' };
  const met = atLeast ? measured >= rest.bound : measured <= rest.bound;
  return { ...rest, atLeast, measured, verdict: met ? 'met' : 'missed' };
}
