// The examples in the documents print the documented output, and agree with the SDK's types.
//
// A block that opens with ```js run is one program. A ```text output block directly after the
// program is its expected output. The programs run unchanged, so every supported version of Node
// must be able to parse the programs.

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
  for (const { file, text } of examples) writeFileSync(join(folder, `${file}.mjs`), text);
  // Plain JavaScript has no annotations, so parameters without a type are allowed.
  const javaScript = { allowJs: true, checkJs: true, noImplicitAny: false, noUncheckedIndexedAccess: false };
  const configuration = {
    extends: '../../tsconfig.json',
    compilerOptions: { noEmit: true, rootDir: '.', ...javaScript },
    include: ['*.mjs'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
  await runFile(process.execPath, [fromRoot('node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false']).catch(
    (error) => {
      throw new Error(`the examples do not agree with the types:\n${error.stdout}`);
    },
  );
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('README has an example', () => {
  expect(examples.map(({ document }) => document)).toContain('README.md');
});

test('every runnable example is JavaScript', () => {
  expect(examples.filter(({ language }) => language !== 'js')).toEqual([]);
});

test.each(examples)('$name', async ({ file, next }) => {
  const { stdout } = await runFile(process.execPath, [join(folder, `${file}.mjs`)], { cwd: root, timeout: 30_000 });
  expect(next?.flags, 'the block after a runnable example shows its output').toContain('output');
  expect(stdout.trimEnd()).toBe(next.text.trimEnd());
});
