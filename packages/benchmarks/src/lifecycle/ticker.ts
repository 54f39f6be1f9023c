// A program that looks at the clock every millisecond and keeps the longest time between two looks. It is asked over its stdin and answers on its stdout; only the
// original's stdin is ever written to, so a copy of it ticks on and says nothing.

import type { GuestProcess, NodeRuntime } from 'coldframe';
import type { Ticker } from './box.js';

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
  const answers = linesOf(program);
  await next(answers);
  const ask = async () => {
    await program.writeStdin('\n');
    return Number(await next(answers));
  };
  return { begin: async () => void (await ask()), worst: ask };
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
