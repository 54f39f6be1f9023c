// Lints the prose of the repository: Markdown, comments, the names of tests, and the width of
// lines. The rules are in prose/rules/, the words in prose/words.json.

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BuildFailure } from './build/failure.mjs';
import { fromRoot } from './build/paths.mjs';
import { runMain } from './build.mjs';
import { openCache } from './prose/cache.mjs';
import { allFiles, fromRepository, kindOf } from './prose/files.mjs';
import { lint } from './prose/lint.mjs';
import { sample } from './prose/sample.mjs';
import { wrap } from './prose/wrap.mjs';

const HELP = `node scripts/prose.mjs [FILE|FOLDER...]   lints them; without any: the whole tree
  --summary            prints the number of messages by folder and rule
  --wrap               wraps comments at 100 columns and Markdown at 160, in place
  --sample N           draws N comments at random, to be read by a person
  --docs N             with --sample: N sentences of the documentation too
  --seed N             with --sample: the same seed draws the same pieces
`;

const options = {
  docs: { type: 'string', default: '0' },
  help: { type: 'boolean' },
  sample: { type: 'string' },
  seed: { type: 'string' },
  summary: { type: 'boolean' },
  wrap: { type: 'boolean' },
};

const print = (line) => process.stdout.write(`${line}\n`);

/** Returns the files that the arguments name. A folder means all files below the folder. */
function filesOf(names) {
  const paths = names.map((name) => fromRepository(resolve(process.env.INIT_CWD ?? process.cwd(), name)));
  const all = allFiles();
  return paths.flatMap((path) => {
    const found = all.filter((file) => path === '' || file === path || file.startsWith(`${path}/`));
    if (found.length === 0) throw new BuildFailure(`prose: expected a file or a folder that the linter reads, received ${path}`);
    return found;
  });
}

const read = (path) => readFileSync(fromRoot(path), 'utf8');

/** Lints `files`. Returns `{ path, line, rule, message }` for each message. */
async function lintAll(files) {
  const cache = openCache();
  const messages = [];
  for (const path of files) {
    const source = read(path);
    const found = await cache.get(path, source, () => lint(path, source, kindOf(path)));
    messages.push(...found.map((message) => ({ path, ...message })));
  }
  cache.save();
  return messages;
}

function printSummary(messages) {
  const counts = new Map();
  for (const { path, rule } of messages) {
    const folder = path.split('/').slice(0, -1).slice(0, 4).join('/') || '.';
    const row = counts.get(folder) ?? {};
    row[rule] = (row[rule] ?? 0) + 1;
    counts.set(folder, row);
  }
  for (const [folder, row] of counts) {
    const cells = Object.entries(row).map(([rule, count]) => `${rule} ${count}`);
    print(`${folder}: ${cells.join(', ')}`);
  }
}

function wrapAll(files) {
  for (const path of files) {
    const source = read(path);
    const wrapped = wrap(source, kindOf(path), path);
    if (wrapped === source) continue;
    writeFileSync(fromRoot(path), wrapped);
    print(`wrapped ${path}`);
  }
}

const wholeNumber = (name, text) => {
  if (!/^\d{1,9}$/.test(text))
    throw new BuildFailure(`prose: --${name} expected a whole number, received ${JSON.stringify(text)}`);
  return Number(text);
};

async function printSample(values) {
  const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000));
  const drawn = await sample({ comments: wholeNumber('sample', values.sample), docs: wholeNumber('docs', values.docs), seed });
  print(`seed ${seed}`);
  for (const [title, pieces] of Object.entries(drawn)) {
    for (const [index, { path, line, text }] of pieces.entries())
      print(`\n${title} ${index + 1}  ${path}:${line}\n${text.replace(/^/gm, '    ')}`);
  }
}

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new BuildFailure(`${error.message}\n${HELP}`);
  }
}

await runMain(async () => {
  const { values, positionals } = readArguments();
  if (values.help) return process.stdout.write(HELP);
  if (values.sample !== undefined) return printSample(values);
  const files = positionals.length === 0 ? allFiles() : filesOf(positionals);
  if (values.wrap) return wrapAll(files);
  const messages = await lintAll(files);
  if (values.summary) printSummary(messages);
  else for (const { path, line, rule, message } of messages) print(`${path}:${line}: ${rule}: ${message}`);
  print(messages.length === 0 ? `prose: ${files.length} files, no messages` : `prose: ${messages.length} messages`);
  if (messages.length > 0) process.exitCode = 1;
});
