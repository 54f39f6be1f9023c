// Runs a suite of a Python client with pytest, in an environment of its own.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyPackage, mustRun, runToEnd } from './run.mjs';

const TEST_PACKAGES = ['pytest', 'pytest-asyncio', 'pytest-timeout', 'pytest-xdist', 'pytest-dotenv'];

/** Prepares a copy of the package in `folder`, with further packages. */
export function preparePython(folder, from, packages = []) {
  copyPackage(from, folder);
  const project = readFileSync(join(from, 'pyproject.toml'), 'utf8');
  const [, name] = /^name = "(.*)"$/m.exec(project) ?? [];
  const [, version] = /^version = "(.*)"$/m.exec(project) ?? [];
  const environment = join(folder, '.venv');
  const stamp = join(folder, '.installed');
  const wanted = [project, ...packages].join('\n');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    rmSync(environment, { recursive: true, force: true });
    mustRun('python3', ['-m', 'venv', environment], folder);
    mustRun(join(environment, 'bin/pip'), ['install', '--quiet', '-e', folder, ...packages, ...TEST_PACKAGES], folder);
    writeFileSync(stamp, wanted);
  }
  return { versions: { [name]: version }, run: (options) => run(folder, options) };
}

async function run(folder, { jobs, files, environment }) {
  const output = join(folder, 'results.xml');
  rmSync(output, { force: true });
  const args = [
    '-q',
    '-p',
    'no:cacheprovider',
    '-o',
    'addopts=--import-mode=importlib',
    '--timeout=60',
    '-n',
    String(jobs),
    `--junitxml=${output}`,
  ];
  await runToEnd(join(folder, '.venv/bin/pytest'), [...args, ...files], { cwd: folder, environment });
  return resultsOf(readFileSync(output, 'utf8'));
}

/** Returns the results in a report in the form of JUnit. */
export function resultsOf(xml) {
  const cases = xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return [...cases].map(([, classname, name, content = '']) => {
    const [, kind, message = ''] = /<(failure|error|skipped)\b(?:[^>]*?message="([^"]*)")?/.exec(content) ?? [];
    const status = kind === undefined ? 'passed' : kind === 'skipped' ? 'skipped' : 'failed';
    return {
      file: `${classname.replaceAll('.', '/')}.py`,
      name: plain(name),
      status,
      message: status === 'failed' ? plain(`${message}\n${content}`) : '',
    };
  });
}

const ENTITIES = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const plain = (text) => text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => ENTITIES[name]).replace(/&#10;/g, '\n');
