// Runs copies of a hostile program, each in a runtime of its own, and measures a neighbour
// meanwhile.
//
// The neighbour is a runtime of the same sidecar. A sidecar has one connection, so the neighbour
// and the hostile programs have the same app. Two loops run at once: `exec` of a fresh program, and
// `ping`. The next call starts after a pause, so the neighbour itself hardly uses a processor.

import { setTimeout as sleep } from 'node:timers/promises';
import { NodeRuntime, type Sidecar } from 'coldframe';
import type { Statistics } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { type Runs, reason, Tally } from '../suite/failures.js';
import { type HostileProgram, PRELUDE } from './hostile/program.js';

export interface PressureShape {
  copies: number;
  /** Milliseconds of the measurement. */
  measureMs: number;
}

export interface PressureResult {
  name: string;
  copies: number;
  exec: Statistics | null;
  ping: Statistics | null;
  /** Calls of the neighbour that failed or were wrong. */
  runs: Runs;
  /** Milliseconds from the first `dispose()` of a hostile runtime to the end of all. */
  disposeMs: number;
  /** How often the hostile programs ended and were started again. */
  restarts: number;
  /** The last reason of an end that is no limit. */
  ended: string | undefined;
}

/** Milliseconds until the hostile programs have their files and children. */
const WARMUP_MS = 400;
const PAUSE_MS = 2;
/** The least time between two starts of a program that ends at once. */
const RESTART_MS = 5;

/** Repeats the hostile work until `isOver` returns true. */
async function repeat(
  { code, calls }: HostileProgram,
  runtime: NodeRuntime,
  result: Pick<PressureResult, 'restarts' | 'ended'>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    try {
      if (calls) await calls(runtime);
      else {
        const { error, stderr, exitCode } = await runtime.exec(PRELUDE + code, { onStdout: () => {}, onStderr: () => {} });
        if (!isOver() && error === undefined && exitCode !== 0) result.ended = stderr.slice(-200);
      }
    } catch (error) {
      if (!isOver()) result.ended = reason(error);
    }
    result.restarts++;
    await sleep(RESTART_MS);
  }
}

export async function measurePressure(
  sidecar: Sidecar,
  program: HostileProgram,
  { copies, measureMs }: PressureShape,
): Promise<PressureResult> {
  const neighbour = await NodeRuntime.create({ sidecar, tenant: 'neighbour' });
  const hostile = await Promise.all(Array.from({ length: copies }, () => NodeRuntime.create({ ...program.options, sidecar })));
  const result = { restarts: 0, ended: undefined as string | undefined };
  let isOver = false;
  const works = hostile.map((runtime) => repeat(program, runtime, result, () => isOver));
  const [execs, pings] = [new Tally(), new Tally()];
  try {
    await sleep(WARMUP_MS);
    const end = now() + measureMs;
    const loop = async (tally: Tally, call: () => Promise<string | undefined>): Promise<void> => {
      do {
        await tally.time(call);
        await sleep(PAUSE_MS);
      } while (now() < end);
    };
    const runProgram = async (): Promise<string | undefined> => {
      const { stdout, error } = await neighbour.exec('console.log(1)');
      return stdout === '1\n' ? undefined : `the neighbour's output was ${JSON.stringify(stdout)}, ${error?.code}`;
    };
    const ping = async (): Promise<undefined> => {
      await sidecar.ping();
      return undefined;
    };
    await Promise.all([loop(execs, runProgram), loop(pings, ping)]);
  } finally {
    isOver = true;
    const from = now();
    await Promise.all(hostile.map((runtime) => runtime.dispose()));
    Object.assign(result, { disposeMs: now() - from });
    await Promise.all(works);
    await neighbour.dispose();
  }
  const [exec, pinged] = [execs.end(), pings.end()];
  const { total, right, failures, successRate } = exec;
  return {
    name: program.name,
    copies,
    exec: exec.eachMs,
    ping: pinged.eachMs,
    runs: { total, right, failures, successRate },
    disposeMs: 0,
    ...result,
  };
}
