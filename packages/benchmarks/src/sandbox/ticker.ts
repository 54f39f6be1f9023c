// Runs a program that reads the clock every millisecond and keeps the longest time between two
// readings. The program receives requests on its stdin and replies on its stdout. Requests go only
// to the program in the original runtime, so the program of a clone writes nothing.

import type { GuestProcess, NodeRuntime } from 'coldframe';
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
  const replies = linesOf(program);
  await next(replies);
  const request = async () => {
    await program.writeStdin('\n');
    return Number(await next(replies));
  };
  return { begin: async () => void (await request()), worst: request };
}

async function next(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the ticker has ended');
  return value;
}

async function* linesOf({ stdout }: GuestProcess): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stdout) {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
