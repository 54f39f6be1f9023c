// The examples in the documents compile against the SDK's types and print the documented output.
//
// A block that opens with ```ts run is one program. A ```text output block directly after the
// program is its expected output. The examples are compiled, because Node 20 has no `await using`.

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromRoot, root, stateDir } from '../../build/paths.mjs';
import { fencedBlocks } from '../markdown.mjs';
import { readText, trackedFiles } from '../tree.mjs';

const runFile = promisify(execFile);

const folder = join(stateDir, `examples-${process.pid}`);

const examples = trackedFiles()
  .filter((path) => path.endsWith('.md'))
  .flatMap((document) => {
    const blocks = fencedBlocks(readText(document));
    const numbered = blocks.map((block, index) => ({ document, ...block, next: blocks[index + 1] }));
    return numbered
      .filter((block) => block.flags.includes('run'))
      .map((block, index) => ({ ...block, name: `${document} ${index + 1}` }));
  })
  .map((example, index) => ({ ...example, file: `example-${index}` }));

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of examples) writeFileSync(join(folder, `${file}.mts`), text);
  const configuration = {
    extends: '../../tsconfig.json',
    compilerOptions: { target: 'ES2022', rootDir: '.', outDir: 'out' },
    include: ['*.mts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
  await runFile(process.execPath, [fromRoot('node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false']).catch(
    (error) => {
      throw new Error(`the examples do not compile:\n${error.stdout}`);
    },
  );
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('README has an example', () => {
  expect(examples.map(({ document }) => document)).toContain('README.md');
});

test.each(examples)('$name', async ({ file, next }) => {
  const { stdout } = await runFile(process.execPath, [join(folder, 'out', `${file}.mjs`)], { cwd: root, timeout: 30_000 });
  expect(next?.flags, 'the block after a runnable example shows its output').toContain('output');
  expect(stdout.trimEnd()).toBe(next.text.trimEnd());
});
