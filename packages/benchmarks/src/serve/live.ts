// Many sandboxes that live at once behind one server, all of which answer.

import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';
import type { Remote } from './place.js';
import { inFlight, type ServeSetup } from './row.js';

const WIDTH = 32;

/** One result in the JSON. */
export interface LiveServeResult {
  count: number;
  live: number;
  /** Sandboxes that answered a command while all others lived. */
  answered: number;
  /** Private memory of server and sidecar for each sandbox, after a command in each. */
  kibEach: number;
  createMs: Statistics | null;
  commandMs: Statistics | null;
  failure?: string;
}

/** Creates `count` sandboxes, and runs a command in each. */
export async function measureServed(count: number, { place }: ServeSetup): Promise<LiveServeResult> {
  const before = place.memoryKib();
  const remotes: Remote[] = [];
  const [creates, commands]: [number[], number[]] = [[], []];
  let failure: string | undefined;
  const attempt = async (call: () => Promise<void>): Promise<void> => {
    try {
      await call();
    } catch (error) {
      failure ??= reason(error);
    }
  };
  try {
    await inFlight(count, WIDTH, () =>
      attempt(async () => {
        const from = now();
        remotes.push(await place.create());
        creates.push(now() - from);
      }),
    );
    await inFlight(remotes.length, WIDTH, (index) =>
      attempt(async () => {
        const from = now();
        const text = await place.run(remotes[index] as Remote, `echo ${index}`);
        if (text !== `${index}\n`) throw new Error(`sandbox ${index} answered ${JSON.stringify(text)}`);
        commands.push(now() - from);
      }),
    );
    const kibEach = (place.memoryKib() - before) / Math.max(1, remotes.length);
    return {
      count,
      live: remotes.length,
      answered: commands.length,
      kibEach,
      createMs: summarize(creates),
      commandMs: summarize(commands),
      ...(failure === undefined ? {} : { failure }),
    };
  } finally {
    await inFlight(remotes.length, WIDTH, (index) => place.kill(remotes[index] as Remote).catch(() => {}));
  }
}
