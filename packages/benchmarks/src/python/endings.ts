// The time to end programs that do not end by themselves: by SIGKILL, by their time limit, and by
// an interruption of a resident runner.

import { setTimeout as delay } from 'node:timers/promises';
import { NodeRuntime, type Sidecar } from 'coldframe';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';

/** One result in the JSON, in milliseconds. */
export interface EndingResult {
  name: string;
  /** From the call of `kill()` to the end. */
  kill: Statistics | null;
  /** From the time limit to the end. */
  late: Statistics | null;
  /** From the call of `interrupt()` to the end of the evaluation. */
  interrupt: Statistics | null;
  error?: string;
}

/** The programs. Each runs for minutes, or until its memory ends. */
export const endless: Readonly<Record<string, string>> = {
  'an endless loop': 'while True: pass',
  'a power of integers': '3 ** 20_000_000',
  'a regular expression that backtracks': "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
  'a sort with a slow key': 'sorted(range(1_000_000), key=lambda number: sum(range(2_000)))',
  'recursion that is caught': `import sys
sys.setrecursionlimit(10**9)
def f(n):
    try:
        return f(n + 1)
    except RecursionError:
        return f(n + 1)
while True:
    f(0)`,
  'a list that grows': "items = []\nwhile True:\n    items.append('x' * 1_000)\n    items[-1000:] = []",
  'JSON that is nested and long': `import json
text = '[' * 900 + ','.join(['1'] * 2_000_000) + ']' * 900
while True:
    json.loads(text)`,
  'a sum of a range in C': 'sum(range(10**12))',
  'a search in a long text': "text, part = 'ab' * 30_000_000, 'ab' * 20_000 + 'c'\nwhile True:\n    text.count(part)",
  'a wait': 'import time\ntime.sleep(600)',
};

const LIMIT_MS = 300;
/** The time in which a program enters the work that is ended. */
const ENTER_MS = 200;
const PYTHON = { language: 'python' } as const;
const MEMORY_BYTES = 512 << 20;

export async function measureEnding(name: string, code: string, sidecar: Sidecar, samples: number): Promise<EndingResult> {
  const times = { kill: [] as number[], late: [] as number[], interrupt: [] as number[] };
  const create = () => NodeRuntime.create({ sidecar, limits: { memoryBytes: MEMORY_BYTES } });
  try {
    for (let sample = 0; sample < samples; sample++) {
      const runtime = await create();
      times.kill.push(await killed(runtime, code));
      times.late.push(await late(runtime, code));
      await runtime.dispose();
      const other = await create();
      times.interrupt.push(await interrupted(other, code));
      await other.dispose();
    }
    return { name, kill: summarize(times.kill), late: summarize(times.late), interrupt: summarize(times.interrupt) };
  } catch (error) {
    return { name, kill: null, late: null, interrupt: null, error: reason(error) };
  }
}

async function killed(runtime: NodeRuntime, code: string): Promise<number> {
  const program = await runtime.spawn(code, PYTHON);
  await delay(ENTER_MS);
  if (program.exitCode !== undefined) throw new Error(`the program ended with ${program.exitCode}`);
  const from = now();
  await program.kill('SIGKILL');
  await program.wait();
  return now() - from;
}

async function late(runtime: NodeRuntime, code: string): Promise<number> {
  const from = now();
  const { error, exitCode } = await runtime.exec(code, { ...PYTHON, timeout: LIMIT_MS });
  if (error?.code !== 'ERR_TIMEOUT') throw new Error(`the time limit did not end the program: exit code ${exitCode}`);
  return now() - from - LIMIT_MS;
}

async function interrupted(runtime: NodeRuntime, code: string): Promise<number> {
  const runner = await runtime.createResidentRunner(PYTHON);
  const running = runner.exec(code);
  await delay(ENTER_MS);
  const from = now();
  await runner.interrupt();
  const { error } = await running;
  const time = now() - from;
  if (error?.code !== 'ERR_INTERRUPTED') throw new Error(`the interruption did not end the evaluation: ${error?.code}`);
  return time;
}
