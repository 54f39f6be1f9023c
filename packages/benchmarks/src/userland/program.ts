// Makes the program around a row. The program checks one operation, finds the number of operations
// that fill a sample, and times the samples. The program prints the samples as one line of JSON.
// The setup of a row is first, because imports must be at the front of a module.

import type { UserlandRow } from './rows.js';

export interface SampleShape {
  samples: number;
  /** Least duration of a sample. */
  sampleMs: number;
}

/** The output of the program. */
export interface ProgramOutput {
  check: string;
  /** Milliseconds per operation. */
  samples: number[];
}

export function makeProgram({ setup = '', operation, waits = false, check }: UserlandRow, shape: SampleShape): string {
  const perform = `${waits ? 'await ' : ''}(${operation})`;
  return `${setup}
const checkOnce = async () => { const result = ${perform}; return String(${check}); };
let last;
const sample = ${waits ? 'async ' : ''}(count) => {
  const from = performance.now();
  for (let i = 0; i < count; i++) last = ${perform};
  return performance.now() - from;
};
const agreed = await checkOnce();
let count = 1;
for (let took = 0; (took = await sample(count)) < ${shape.sampleMs};) {
  count = took < ${shape.sampleMs} / 16 ? count * 8 : Math.ceil((count * ${shape.sampleMs} * 1.2) / took);
}
const samples = [];
for (let i = 0; i < ${shape.samples}; i++) samples.push((await sample(count)) / count);
console.log(JSON.stringify({ check: agreed, samples, last: typeof last }));
process.exit();
`;
}
