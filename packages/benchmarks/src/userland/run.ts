// Runs every case on both sides, in turns, and compares: a time counts only when both sides computed the same value.

import { type Statistics, summarize } from '../stats/statistics.js';
import type { UserlandCase } from './cases.js';
import { makeProgram, type ProgramOutput, type SampleShape } from './program.js';
import type { Side } from './sides.js';

export interface UserlandResult {
  name: string;
  /** Milliseconds per operation; `null` when the side failed or disagreed. */
  sandbox: Statistics | null;
  node: Statistics | null;
  /** Sandbox over Node, medians; above 1 is slower than Node. */
  ratio: number | null;
  /** Why there is no ratio. */
  error?: string;
}

export interface UserlandEvents {
  starts(name: string, index: number): void;
}

export async function runUserland(
  cases: readonly UserlandCase[],
  sides: { sandbox: Side; node: Side },
  shape: SampleShape,
  events: UserlandEvents,
): Promise<UserlandResult[]> {
  const results: UserlandResult[] = [];
  for (const [index, each] of cases.entries()) {
    events.starts(each.name, index);
    results.push(await runCase(each, sides, shape));
  }
  return results;
}

async function runCase(each: UserlandCase, sides: { sandbox: Side; node: Side }, shape: SampleShape): Promise<UserlandResult> {
  const program = makeProgram(each, shape);
  try {
    const node = await outputOf(sides.node, program);
    const sandbox = await outputOf(sides.sandbox, program);
    if (sandbox.check !== node.check) throw new Error(`the sandbox computed ${cut(sandbox.check)}, Node ${cut(node.check)}`);
    const statistics = { sandbox: summarize(sandbox.samples), node: summarize(node.samples) };
    const [above, below] = [statistics.sandbox?.p50, statistics.node?.p50];
    return { name: each.name, ...statistics, ratio: above === undefined || !below ? null : above / below };
  } catch (error) {
    return {
      name: each.name,
      sandbox: null,
      node: null,
      ratio: null,
      error: error instanceof Error ? error.message : String(error),
    };
  }
}

const cut = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

async function outputOf(side: Side, program: string): Promise<ProgramOutput> {
  let stdout: string;
  try {
    stdout = await side.run(program);
  } catch (error) {
    throw new Error(`${side.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return JSON.parse(stdout) as ProgramOutput;
}
