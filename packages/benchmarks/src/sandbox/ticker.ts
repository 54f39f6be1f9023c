// Runs a program that reads the clock every millisecond and keeps the longest time between two
// readings. The program receives requests on its stdin and replies on its stdout. Requests go only
// to the program in the original runtime, so the program of a clone writes nothing.

import type { NodeRuntime } from 'coldframe';
import { linesOf, nextLine } from './lines.js';
import type { Ticker } from './runtime.js';

const PROGRAM = `
let last = performance.now();
let worst = 0;
const look = () => {
  const now = performance.now();
  worst = Math.max(worst, now - last);
  last = now;
};
setInterval(look, 1);
process.stdin.setEncoding('utf8').on('data', (line) => {
  look();
  console.log(worst);
  worst = 0;
  last = performance.now();
});
console.log(0);
`;

export async function startTicker(runtime: NodeRuntime): Promise<Ticker> {
  const program = await runtime.spawn(PROGRAM, { stdin: undefined });
  const replies = linesOf(program.stdout);
  await nextLine(replies);
  const request = async () => {
    await program.writeStdin('\n');
    return Number(await nextLine(replies));
  };
  return { begin: async () => void (await request()), worst: request };
}
