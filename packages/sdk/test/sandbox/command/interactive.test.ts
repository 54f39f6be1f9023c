// Tests `coldframe repl` and `coldframe sh` in real child processes.

import { expect, test } from 'vitest';
import { run, start } from './command.js';

const lines = (...all: string[]): string => `${all.join('\n')}\n`;

test('repl keeps its state, prints values and accepts several lines', async () => {
  const input = lines('const a = 20', 'function f(n) {', '  return n * 2', '}', 'f(a)', '_ + 1', 'await Promise.resolve({ a })');
  const { code, stdout, stderr } = await run(['repl'], { input });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe('undefined\nundefined\n40\n41\n{ a: 20 }\n');
});

test('repl continues after an error and after the end of its process', async () => {
  const { code, stdout, stderr } = await run(['repl'], {
    input: lines('throw new Error("no")', '1', 'process.exit(4)', '2', '3', '.nonsense'),
  });
  expect([code, stdout.split('\n')[0], stdout.trimEnd().split('\n').at(-1)]).toEqual([0, '1', '3']);
  expect(stderr).toMatch(/Error: no[\s\S]*exit code 4[\s\S]*type \.help/);
});

test('repl takes a snapshot and returns to it', async () => {
  const { stdout, stderr } = await run(['repl'], {
    input: lines('n = 1', '.snapshot', 'n = 2', '.rollback', 'n', '.clear', 'typeof n', '.help'),
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^1\nsnap-\w+\n2\n1\n'undefined'\n\.clear/);
});

test('SIGINT ends an evaluation of repl and keeps the state', async () => {
  const { child, ended, until } = start(['repl', '-i']);
  await until('> ');
  child.stdin?.write('kept = 5; console.log("begun"); for (;;);\n');
  await until('begun\n');
  child.kill('SIGINT');
  await until('> ');
  child.stdin?.write('kept\n');
  await until('5\n');
  child.stdin?.end('.exit\n');
  expect(await ended).toMatchObject({ code: 0, stderr: 'The evaluation was ended.\n' });
});

test('sh -c runs a command with arguments', async () => {
  const script = 'printf "%s\\n" "$1" b a | sort; cat; exit 6';
  expect(await run(['sh', '-c', script, 'c'], { input: 'input' })).toEqual({ code: 6, stdout: 'a\nb\nc\ninput', stderr: '' });
});

test('sh runs a script from stdin', async () => {
  expect(await run(['sh', '--env', 'A=1'], { input: lines('if true', 'then echo $A', 'fi', 'exit 3') })).toEqual({
    code: 3,
    stdout: '1\n',
    stderr: '',
  });
});

test('sh keeps directory, variables and functions between commands', async () => {
  const input = lines(
    'cd /tmp',
    'x=5',
    'f() {',
    'echo "f $x"',
    '}',
    'f; pwd',
    'cat <<E',
    "it's",
    'E',
    'false',
    'echo $?',
    'nosuch',
    'exit 4',
  );
  const { code, stdout, stderr } = await run(['sh', '-i'], { input });
  expect([code, stderr]).toEqual([4, expect.stringContaining('nosuch: command not found')]);
  expect(stdout.replaceAll(/coldframe:\S+\$ |\.\.\. /g, '')).toBe("f 5\n/tmp\nit's\n1\n");
});

test.each([
  ['a program', 'node -e "console.log(1); setInterval(() => {}, 1000)"; cd /tmp', 'coldframe:/tmp$ '],
  ['the shell', 'node -e "console.log(1)"; while true; do :; done', 'coldframe:/workspace$ '],
])('SIGINT ends %s, and sh continues', async (_, command, prompt) => {
  const { child, ended, until } = start(['sh', '-i']);
  await until('$ ');
  child.stdin?.write(`${command}\n`);
  await until('1\n');
  child.kill('SIGINT');
  await until(prompt);
  child.stdin?.write('echo alive\n');
  await until('alive\n');
  child.stdin?.end('exit 9\n');
  expect((await ended).code).toBe(9);
});
