// A graph of ES modules in few folders: a file that many modules import is resolved once per
// folder, not once per import.
import { NodeRuntime } from 'coldframe';
import { expect, it } from 'vitest';

const FILES = 40;

// Every module imports every other module. Node's resolver calls `realpath` for each result.
const PROGRAM = `
import fs from 'node:fs';
const original = fs.realpathSync;
let asked = 0;
fs.realpathSync = (...args) => {
  asked++;
  return original(...args);
};
fs.mkdirSync('graph');
for (let i = 0; i < ${FILES}; i++) {
  const others = Array.from({ length: ${FILES} }, (_, j) => j).filter((j) => j !== i);
  const imports = others.map((j) => \`import './m\${j}.mjs';\`).join('');
  fs.writeFileSync(\`graph/m\${i}.mjs\`, imports + 'globalThis.count = (globalThis.count ?? 0) + 1;');
}
await import('/workspace/graph/m0.mjs');
console.log(JSON.stringify({ asked, evaluated: globalThis.count }));`;

it('resolves each file of a module graph once', async () => {
  const runtime = await NodeRuntime.create();
  try {
    const { stdout, stderr } = await runtime.exec(PROGRAM);
    expect(stderr).toBe('');
    const { asked, evaluated } = JSON.parse(stdout);
    expect(evaluated).toBe(FILES);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(2 * FILES);
  } finally {
    await runtime.dispose();
  }
});
