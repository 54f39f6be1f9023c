// The modules of CPython's tests: the unpacked files, and the choice of modules.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { PYTHON_VERSION, readTests } from '../../../packages/python/build/source.mjs';

/** The modules that a test file must not import at its top level, with the reason. */
const EXCLUDED = [
  ['threads', /threading|_thread|concurrent(?:\.futures)?|test\.support\.threading_helper/],
  ['processes', /multiprocessing|_posixsubprocess|pty/],
  [
    'ctypes and extensions in C',
    /ctypes|_ctypes|_testcapi|_testinternalcapi|_testlimitedcapi|_testbuffer|_testclinic|_xxtestfuzz/,
  ],
  ['a screen', /tkinter|idlelib|turtle|curses|readline/],
  ['another system', /winreg|msvcrt|_winapi|_overlapped/],
];
/** Modules that are excluded by their name. */
const BY_NAME = {
  threads:
    /^test_(?:thread|threading.*|thread_local|dummy_thread|concurrent_futures|queue|sched|free_threading|gil|interpreters|_interp.*|interpreters)$/,
  processes:
    /^test_(?:fork1|subprocess|multiprocessing.*|_test_multiprocessing|wait3|wait4|popen|pdb|regrtest|repl|pyrepl|cmd_line.*|faulthandler)$/,
  'ctypes and extensions in C':
    /^test_(?:ctypes|capi|cext|cppext|gdb|peg_generator|clinic|tools|c_locale_coercion|embed|perf.*|stable_abi.*)$/,
  'a screen': /^test_(?:tkinter|ttk|ttk_textonly|idle|turtle|curses|readline|tcl)$/,
  'another system': /^test_(?:win.*|_osx.*|android|apple|ios|kqueue|devpoll|epoll|dtrace|ossaudiodev|launcher|venv|ensurepip)$/,
};

/** Returns the folder with the package `test`. The files are unpacked once. */
export async function testsFolder(work = join(homedir(), '.cache/coldframe')) {
  const folder = join(work, `python-tests-${PYTHON_VERSION}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  for (const [path, bytes] of await readTests()) {
    mkdirSync(dirname(join(unfinished, path)), { recursive: true });
    writeFileSync(join(unfinished, path), bytes);
  }
  renameSync(unfinished, folder);
  return folder;
}

/** Returns the modules by their names. `excluded` is the reason why a module does not run. */
export function listModules(folder, filters) {
  const root = join(folder, 'test');
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => /^test_\w+(?:\.py)?$/.test(name))
    .map((entry) => ({ name: entry.name.replace(/\.py$/, ''), path: join(root, entry.name), isPackage: entry.isDirectory() }))
    .filter(({ name }) => filters.length === 0 || filters.some((filter) => `${name}$`.includes(filter)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, path, isPackage }) => ({ name, excluded: reasonOf(name, isPackage ? join(path, '__init__.py') : path) }));
}

function reasonOf(name, path) {
  const named = Object.entries(BY_NAME).find(([, pattern]) => pattern.test(name));
  if (named) return named[0];
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  for (const [reason, modules] of EXCLUDED) {
    const any = `(?:${modules.source})`;
    const byName = `import (?:[\\w., ]+, )?${any}\\b|from ${any}(?:\\.\\w+)? import`;
    const imports = `^(?:${byName}|\\w+ = import_helper\\.import_module\\(['"]${any})`;
    if (new RegExp(imports, 'm').test(text)) return reason;
  }
  return undefined;
}
