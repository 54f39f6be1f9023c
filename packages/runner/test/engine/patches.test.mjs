// Tests the engine's patches. Every patch fits the pinned sources exactly and has a header. A patch
// that does not fit stops the build. A git tree of the patches returns unchanged patch files.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addSources, makeEngineTree, versionsIn } from '../../build/patches/engine-tree.mjs';
import { parsePatchFile, sectionOf } from '../../build/patches/format.mjs';
import { git, tagOf } from '../../build/patches/git.mjs';
import { applyPatches, loadPatches, patchFiles } from '../../build/patches/series.mjs';
import { readEngineTree, writePatchFiles } from '../../build/patches/write-series.mjs';
import { packageDir, patchesDir } from '../../build/paths.mjs';
import { ENGINE_VERSION, readEngineFiles } from '../../build/sources.mjs';

// Each test of a git tree starts git several times.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const patches = loadPatches();

/** Returns a patch of `a.c` with one hunk. */
const patchOf = (lines, { file = 'a.c', at = 1 } = {}) => {
  const [before, after] = ['-', '+'].map((sign) => lines.filter((line) => line[0] !== (sign === '-' ? '+' : '-')).length);
  const diff = [`--- a/${file}`, `+++ b/${file}`, `@@ -${at},${before} +${at},${after} @@`, ...lines, ''].join('\n');
  return parsePatchFile('0001-name.patch', `name: change something\n\nReason: none\n---\n${diff}`);
};

const apply = (text, patch) => applyPatches(new Map([['a.c', text]]), [patch]).get('a.c');

describe('the series', () => {
  it('fits the pinned sources', () => {
    const files = applyPatches(readEngineFiles(), patches);
    expect(files.get('quickjs.c')).not.toBe(readEngineFiles().get('quickjs.c'));
  });

  it.each(patches)('has a header with reason, changes and tests: $file', ({ subject, message }) => {
    const lines = message.split('\n');
    expect(lines.filter((line) => line.length > 72)).toEqual([]);
    expect(subject).toMatch(/^[a-z0-9-]+: [a-z].*[^.]$/);
    expect(lines[1]).toBe('');
    expect(sectionOf(message, 'Reason').length).toBeGreaterThan(80);
    expect(sectionOf(message, 'Changes')).toMatch(/^- \S/);
    const tests = sectionOf(message, 'Tests').split('\n');
    expect(tests.filter((line) => !/^- \S+$/.test(line) || !existsSync(join(packageDir, line.slice(2))))).toEqual([]);
  });
});

describe('a patch', () => {
  it('changes lines at their place', () => {
    expect(apply('one\ntwo\ntwo\n', patchOf([' one', '-two', '+2', ' two']))).toBe('one\n2\ntwo\n');
  });

  it.each([
    [
      'text that is missing',
      patchOf([' one', '-three', '+3', ' two']),
      '0001-name.patch ("name: change something") does not fit a.c, line 2:\nexpected | three\n   found | two',
    ],
    ['text that is elsewhere', patchOf(['-two', '+2'], { at: 1 }), 'line 1:\nexpected | two\n   found | one'],
    ['text past the end', patchOf([' two', '-two', '-two', '+2'], { at: 2 }), 'line 4:\nexpected | two\n   found | '],
    ['a file that is missing', patchOf(['-one', '+1'], { file: 'b.c' }), 'there is no file b.c'],
  ])('stops the build: %s', (_name, patch, message) => {
    expect(() => apply('one\ntwo\ntwo\n', patch)).toThrow(message);
  });

  it.each([
    ['without a diff', 'name: change something\n', 'a line --- between header and diff is missing'],
    ['without a name', 'Change something\n---\n', "expected the subject 'name: imperative', found 'Change something'"],
  ])('is refused %s', (_name, text, message) => {
    expect(() => parsePatchFile('0001-name.patch', text)).toThrow(message);
  });
});

const temporary = mkdtempSync(join(tmpdir(), 'engine-tree-'));
afterAll(() => rmSync(temporary, { recursive: true }));

describe('the tree of the engine', () => {
  const tree = join(temporary, 'tree');
  const files = patchFiles(patchesDir).map((file) => ({ file, text: readFileSync(join(patchesDir, file), 'utf8') }));
  beforeAll(() => makeEngineTree(tree));

  it('has a commit for each patch', () => {
    const subjects = git(tree, ['log', '--reverse', '--format=%s', `${tagOf(ENGINE_VERSION)}..HEAD`]);
    expect(subjects.trim().split('\n')).toEqual(patches.map(({ subject }) => subject));
  });

  it('has the sources that the build compiles', () => {
    const compiled = [...applyPatches(readEngineFiles(), patches)];
    const differing = compiled.filter(([name, text]) => readFileSync(join(tree, name), 'utf8') !== text);
    expect(differing.map(([name]) => name)).toEqual([]);
  });

  it('returns the patch files unchanged', () => {
    expect(readEngineTree(tree)).toEqual(files);
  });
});

describe('a tree that a developer changes', () => {
  const sources = new Map([['a.c', 'one\ntwo\ntwo\n']]);
  const settings = { sources, version: '1.0.0' };
  const [first, second] = [
    ['first', [' one', '-two', '+2', ' two']],
    ['second', [' one', '+one and a half', ' 2', ' two']],
  ].map(([name, lines]) => ({ ...patchOf(lines), name, message: `${name}: change something\n\nReason: none\n` }));
  let count = 0;
  const makeTree = () => {
    const tree = join(temporary, `small-${count++}`);
    makeEngineTree(tree, { ...settings, patches: [first, second] });
    return tree;
  };
  const commit = (tree, message, text) => {
    if (text !== undefined) writeFileSync(join(tree, 'a.c'), text);
    git(tree, ['-c', 'user.name=A Developer', '-c', 'user.email=a@developer', 'commit', '-qam', message]);
  };
  const filesOf = (tree) => readEngineTree(tree, settings).map(({ file }) => file);

  it('has a patch file for a new commit', () => {
    const tree = makeTree();
    commit(tree, 'third: change more', 'one\none and a half\n2\n2\n');
    const files = readEngineTree(tree, settings);
    expect(filesOf(tree)).toEqual(['0001-first.patch', '0002-second.patch', '0003-third.patch']);
    expect(files[2].text).toBe(
      'third: change more\n---\n--- a/a.c\n+++ b/a.c\n@@ -1,4 +1,4 @@\n one\n one and a half\n 2\n-two\n+2\n',
    );
  });

  it('has no patch file for a commit that was removed', () => {
    const tree = makeTree();
    git(tree, ['reset', '-q', '--hard', 'HEAD~1']);
    expect(filesOf(tree)).toEqual(['0001-first.patch']);
  });

  it.each([
    ['changes that are not committed', (tree) => writeFileSync(join(tree, 'a.c'), ''), 'has changes that are not committed'],
    ['a commit without a name', (tree) => commit(tree, 'Change more', 'one\n'), "found 'Change more'"],
    ['two commits of one name', (tree) => commit(tree, 'first: again', 'one\n'), 'another patch has the name first'],
    [
      'a new file',
      (tree) => {
        writeFileSync(join(tree, 'b.c'), 'one\n');
        git(tree, ['add', 'b.c']);
        commit(tree, 'third: add a file');
      },
      'a patch only changes the text of existing files',
    ],
  ])('is refused with %s', (_name, change, message) => {
    const tree = makeTree();
    change(tree);
    expect(() => readEngineTree(tree, settings)).toThrow(message);
  });

  it('gets the sources of another version beside the old ones', () => {
    const tree = makeTree();
    const next = { sources: new Map([['a.c', 'zero\none\ntwo\ntwo\n']]), version: '1.1.0' };
    addSources(tree, next);
    expect(versionsIn(tree)).toEqual(['1.0.0', '1.1.0']);
    expect(() => readEngineTree(tree, next)).toThrow('HEAD is not based on quickjs-ng-1.1.0');
    const identity = ['-c', 'user.name=A Developer', '-c', 'user.email=a@developer'];
    git(tree, [...identity, 'rebase', '-q', '--onto', tagOf('1.1.0'), tagOf('1.0.0'), 'patches']);
    expect(readEngineTree(tree, next).map(({ file }) => file)).toEqual(['0001-first.patch', '0002-second.patch']);
    expect(readFileSync(join(tree, 'a.c'), 'utf8')).toBe('zero\none\none and a half\n2\ntwo\n');
  });

  it('replaces the files of a series', () => {
    const folder = join(temporary, 'series');
    mkdirSync(folder);
    writeFileSync(join(folder, '0001-old.patch'), 'old');
    expect(writePatchFiles([{ file: '0001-new.patch', text: 'new' }], folder)).toEqual(['0001-new.patch', '0001-old.patch']);
    expect(writePatchFiles([{ file: '0001-new.patch', text: 'new' }], folder)).toEqual([]);
  });
});
