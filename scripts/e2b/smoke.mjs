// Calls of the newest npm packages against a server. Fails at the first wrong result. The file runs
// in a folder that has the packages.

import { equal, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Sandbox } = await load('e2b');
const { Sandbox: Interpreter } = await load('@e2b/code-interpreter');

const sandbox = await Sandbox.create();
equal((await sandbox.commands.run('echo "$((6 * 7))"')).stdout, '42\n');
await sandbox.files.write('folder/file.txt', 'text');
equal(await sandbox.files.read('folder/file.txt'), 'text');
equal((await sandbox.files.list('folder')).map(({ name }) => name).join(), 'file.txt');
const created = new Promise((resolve) => {
  void sandbox.files.watchDir('folder', resolve).then(() => sandbox.files.write('folder/new.txt', 'new'));
});
equal((await created).name, 'new.txt');
let screen = '';
const onData = (data) => {
  screen += Buffer.from(data).toString();
};
const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData });
await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('echo $((40 + 2)); exit\r'));
await terminal.wait();
ok(screen.includes('42'));
await sandbox.pause();
equal(await (await Sandbox.connect(sandbox.sandboxId)).files.read('folder/file.txt'), 'text');
await sandbox.kill();

const interpreter = await Interpreter.create();
equal((await interpreter.runCode('6 * 7', { language: 'javascript' })).text, '42');
await interpreter.kill();

// E2B's own command.
const e2b = (...args) => execFileSync('node_modules/.bin/e2b', ['sandbox', ...args], { encoding: 'utf8' });
const { sandboxId } = await Sandbox.create();
ok(e2b('list').includes(sandboxId));
ok(e2b('exec', sandboxId, 'echo', 'from the command').includes('from the command'));
ok(e2b('logs', sandboxId).includes('from the command'));
ok(e2b('kill', sandboxId).includes('has been killed'));
