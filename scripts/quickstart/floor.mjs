// Measures a program without a sandbox: the milliseconds of `node -e 1` from the spawn to the exit,
// the median of five runs.

import { spawn } from 'node:child_process';

const ROUNDS = 5;

export async function measureNode() {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await spawnNode());
  return rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
}

function spawnNode() {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, ['-e', '1'], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve(performance.now() - start));
  });
}
