// Tests the commands of bindings in every mode: arguments, output, and use beside other commands in
// a shell.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bindings, NodeRuntime } from '../../src/index.js';
import { MODES, type Provisioning } from './modes.js';

const inputs: unknown[] = [];
const bindings: Bindings = {
  weather: {
    description: 'The weather in a city.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        maxDays: { type: 'integer', default: 3 },
        factor: { type: 'number' },
        metric: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        kind: { enum: ['now', 'later'] },
        place: { type: 'object' },
        any: {},
      },
      required: ['city'],
      additionalProperties: false,
    },
    handler: (input) => {
      inputs.push(input);
      return { of: input.city };
    },
    examples: [{ description: 'Near the sea', input: { city: "L'Escala" } }],
    commandAliases: ['wttr'],
  },
  plain: { description: 'Returns text.', inputSchema: true, handler: (input) => (typeof input === 'string' ? input : 'text') },
  fails: {
    description: 'Fails.',
    inputSchema: true,
    handler: () => {
      throw Object.assign(new Error('out of order'), { code: 'E_ORDER' });
    },
  },
};

describe.each(MODES)('$name', ({ open }) => {
  let provisioning: Provisioning;
  let runtime: NodeRuntime;

  beforeAll(async () => {
    provisioning = await open();
    runtime = await provisioning.create({ bindings });
  });
  afterAll(async () => {
    await runtime.dispose();
    await provisioning.close();
  });

  const run = async (command: string, args: string[] = [], stdin?: string) => {
    const { stdout, stderr, exitCode } = await runtime.execCommand(command, args, { stdin });
    return { stdout, stderr, exitCode };
  };
  const done = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
  const failed = (stderr: string) => ({ stdout: '', stderr, exitCode: 1 });

  test('reads the input as JSON from an argument or from stdin', async () => {
    expect(await run('weather', ['--json', '{"city":"Oslo"}'])).toEqual(done('{"of":"Oslo"}\n'));
    expect(await run('wttr', ['--json={"city":"Århus"}'])).toEqual(done('{"of":"Århus"}\n'));
    expect(await run('weather', ['--json', '-'], '{"city":\n"Rome"}\n')).toEqual(done('{"of":"Rome"}\n'));
    expect(await run('plain', ['--json', '"a\\nb\\n"'])).toEqual(done('a\nb\n'));
    expect(await run('plain')).toEqual(done('text\n'));
  });

  test('reads the input from options whose types the schema defines', async () => {
    const input = async (...args: string[]) => {
      expect(await run('weather', ['--city', 'x', ...args])).toEqual(done('{"of":"x"}\n'));
      return inputs.pop();
    };
    expect(await input('--max-days', '5', '--factor=1.5', '--metric')).toEqual({
      city: 'x',
      maxDays: 5,
      factor: 1.5,
      metric: true,
    });
    expect(await input('--maxDays=5', '--no-metric')).toEqual({ city: 'x', maxDays: 5, metric: false });
    expect(await input('--metric', 'false', '--tags', 'a', '--tags', '1')).toEqual({
      city: 'x',
      metric: false,
      tags: ['a', '1'],
    });
    expect(await input('--tags', '["a","b"]', '--kind', 'now')).toEqual({ city: 'x', tags: ['a', 'b'], kind: 'now' });
    expect(await input('--place', '{"a":1}', '--any', '[1]')).toEqual({ city: 'x', place: { a: 1 }, any: [1] });
    expect(await input('--any', 'no json')).toEqual({ city: 'x', any: 'no json' });
    expect(await run('weather', ['--city', '7'])).toEqual(done('{"of":"7"}\n'));
    expect(await run('weather', ['--city', '--json'])).toEqual(done('{"of":"--json"}\n'));
  });

  test('reports a failure on stderr with exit code 1', async () => {
    expect(await run('fails')).toEqual(failed('fails: out of order (E_ORDER)\n'));
    const { stderr, ...rest } = await run('weather', ['--json', '{"town":1}']);
    expect(rest).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(
      /^weather: The input of the binding 'weather' does not match its schema: input: .*\(ERR_BINDING_INPUT\)\n$/s,
    );
    expect((await run('wttr', ['--json', '{'])).stderr).toMatch(/^wttr: the input is not JSON: /);
    expect(await run('weather', ['--json'])).toEqual(failed("weather: --json expects JSON, or '-' for standard input\n"));
    expect(await run('weather', ['--json', '{}', 'x'])).toEqual(
      failed("weather: --json accepts no further words, received 'x'\n"),
    );
    expect(await run('weather', ['Oslo'])).toEqual(
      failed("weather: unexpected word 'Oslo', expected --json JSON or --key value\n"),
    );
    expect((await run('weather', ['--town', 'x'])).stderr).toMatch(
      /^weather: unknown option --town, expected one of --city, --maxDays, /,
    );
    expect(await run('weather', ['--city'])).toEqual(failed('weather: --city expects a value\n'));
    expect(await run('weather', ['--factor', 'x'])).toEqual(failed("weather: --factor expects a number, received 'x'\n"));
    expect(await run('weather', ['--metric=1'])).toEqual(failed("weather: --metric expects true or false, received '1'\n"));
  });

  test('--help prints the description and the usage', async () => {
    const { stdout, exitCode } = await run('wttr', ['--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('The weather in a city.\n\nUsage: wttr --json JSON');
    expect(stdout).toMatch(/^ {2}--city <string> +Where \(required\)\n {2}--maxDays <integer> +\[default: 3\]$/m);
    expect(stdout).toContain(`  # Near the sea\n  wttr --json '{"city":"L'\\''Escala"}'\n`);
    expect(stdout).toContain('"additionalProperties": false');
  });

  test('runs the example of --help', async () => {
    const line = /^ {2}(wttr --json .*)$/m.exec((await run('wttr', ['--help'])).stdout)?.[1] ?? '';
    expect(await run('sh', ['-c', line])).toEqual(done(`{"of":"L'Escala"}\n`));
  });

  test('a command runs in a shell, as a child and in a pipeline', async () => {
    const script = `echo '{"city":"Bergen"}' | weather --json - | grep -o Bergen > /tmp/city; cat /tmp/city
      for c in a b; do wttr --city $c; done
      fails || echo "failed with $?"
      command -v weather
      x=$(plain --json '"v"'); echo "<$x>"`;
    expect(await run('sh', ['-c', script])).toEqual({
      stdout: 'Bergen\n{"of":"a"}\n{"of":"b"}\nfailed with 1\n/usr/local/bin/weather\n<v>\n',
      stderr: 'fails: out of order (E_ORDER)\n',
      exitCode: 0,
    });
    const code = `import { execFileSync, spawnSync } from 'node:child_process';
      console.log(
        execFileSync('weather', ['--city', 'x']).toString().trim(),
        spawnSync('fails').status,
        spawnSync('/usr/local/bin/plain').stdout.toString()
      )`;
    expect((await runtime.exec(code)).stdout).toBe('{"of":"x"} 1 text\n\n');
  });

  test('programs cannot change the commands, and a forged command only calls bindings', async () => {
    const code = `import fs from 'node:fs'; import { spawnSync } from 'node:child_process';
      const tried = [
        () => fs.writeFileSync('/usr/local/bin/plain', ''),
        () => fs.unlinkSync('/usr/local/bin/plain'),
        () => fs.chmodSync('/usr/local/bin/plain', 0o777)
      ];
      for (const one of tried) try { one(); console.log('done'); } catch (e) { console.log(e.code); }
      for (const name of ['plain', 'nobody', '../plain', '']) {
        fs.writeFileSync('/tmp/forged', '\\x7fCOLDFRAME binding ' + name + '\\n', { mode: 0o755 });
        const { status, stdout, stderr, error } = spawnSync('/tmp/forged');
        console.log(error?.code, status, String(stdout), String(stderr));
      }`;
    const { stdout } = await runtime.exec(code);
    const missing = (name: string) =>
      `undefined 1  forged: There is no binding with the name '${name}' (ERR_BINDING_NOT_FOUND)\n\n`;
    const forged = `undefined 0 text\n \n${missing('nobody')}${missing('../plain')}${missing('')}`;
    expect(stdout).toBe(`EACCES\nEPERM\nEPERM\n${forged}`);
  });
});
