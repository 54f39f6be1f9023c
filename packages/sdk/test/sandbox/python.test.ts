// Tests programs in Python: as code, as files, as children of other programs, and in runners.

import { pythonDir } from '@coldframe/python';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, type ResidentRunner, type RunOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { disposeAll, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const isBuilt = pythonDir() !== undefined;
const python = (options: RunOptions = {}): RunOptions => ({ language: 'python', ...options });

describe.skipIf(isBuilt)('without the image of Python', () => {
  test('every call names the package to install', async () => {
    const runtime = await NodeRuntime.create();
    const missing = { code: 'ERR_PYTHON_MISSING', package: '@coldframe/python' };
    await runtime.writeFile('/workspace/a.py', 'print(1)');
    await expect(runtime.exec('print(1)', python())).rejects.toMatchObject(missing);
    await expect(runtime.run('1', python())).rejects.toMatchObject(missing);
    await expect(runtime.execFile('/workspace/a.py')).rejects.toMatchObject(missing);
    await expect(runtime.spawn('print(1)', python())).rejects.toMatchObject(missing);
    await expect(runtime.spawnCommand('python3', [])).rejects.toMatchObject(missing);
    await expect(runtime.createResidentRunner({ language: 'python' })).rejects.toMatchObject(missing);
    await runtime.dispose();
  });

  test('a child prints the package to install and exits with code 127', async () => {
    const runtime = await NodeRuntime.create();
    const { stdout, stderr } = await runtime.execCommand('sh', ['-c', 'python3 -c "print(1)"; echo $?']);
    expect([stdout, stderr]).toEqual(['127\n', expect.stringContaining('@coldframe/python')]);
    await runtime.dispose();
  });
});

describe.skipIf(!isBuilt).each(MODES)('$name, with the image of Python', (mode) => {
  const withPython = (work: (runtime: NodeRuntime) => Promise<void>) => withRuntime(mode, { env: { GIVEN: 'yes' } }, work);

  test('a program has output, input, arguments, environment and a directory', () =>
    withPython(async (runtime) => {
      expect(await runtime.exec('print(1+1)', python())).toMatchObject({ exitCode: 0, stdout: '2\n', stderr: '' });
      const code = 'import os, sys\nprint(sys.argv[1:], sys.stdin.read(), os.environ["GIVEN"], os.environ["A"], os.getcwd())';
      const options = python({ args: ['a', 'b'], stdin: 'in', env: { A: '1' }, cwd: '/tmp' });
      expect((await runtime.exec(code, options)).stdout).toBe("['a', 'b'] in yes 1 /tmp\n");
      const { stderr } = await runtime.exec('import sys\nprint("e", file=sys.stderr)', python());
      expect(stderr).toBe('e\n');
    }));

  test('a program ends with its exit code', () =>
    withPython(async (runtime) => {
      const endOf = async (code: string) => (await runtime.exec(code, python())).exitCode;
      expect(await endOf('raise SystemExit(7)')).toBe(7);
      expect(await endOf('import sys; sys.exit(3)')).toBe(3);
      expect(await endOf('import sys; sys.exit("text")')).toBe(1);
      expect(await endOf('import os; os._exit(4)')).toBe(4);
    }));

  test('an exception prints a traceback', () =>
    withPython(async (runtime) => {
      const { exitCode, stderr } = await runtime.exec('def f():\n  raise ValueError("boom")\nf()', python());
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^Traceback[\s\S]*ValueError: boom\n$/)]);
      expect(await runtime.exec('def', python())).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('SyntaxError'),
      });
    }));

  test('files are the files of the runtime', () =>
    withPython(async (runtime) => {
      await runtime.writeFile('/workspace/a', 'from the app');
      const code =
        'text = open("/workspace/a").read()\nopen("/workspace/b", "w").write(text.upper())\nimport json; print(json.__file__)';
      expect((await runtime.exec(code, python())).stdout).toBe('/usr/lib/python3.13/json/__init__.py\n');
      expect(Buffer.from(await runtime.readFile('/workspace/b')).toString()).toBe('FROM THE APP');
      const refused = await runtime.exec('open("/usr/lib/python3.13/x", "w")', python());
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/PermissionError|Read-only/) });
    }));

  test('an endless loop and a large memory are ended', () =>
    withPython(async (runtime) => {
      const endless = await runtime.exec('while True: pass', python({ timeout: 100 }));
      expect(endless).toMatchObject({ exitCode: 124, error: { code: 'ERR_TIMEOUT' } });
      const long = await runtime.exec('3 ** 20_000_000', python({ timeout: 100 }));
      expect(long).toMatchObject({ exitCode: 124, error: { code: 'ERR_TIMEOUT' } });
      const limits = { memoryBytes: 64 << 20 };
      const large = await runtime.exec('bytearray(500_000_000)', python({ limits }));
      expect(large).toMatchObject({ exitCode: expect.toSatisfy((code) => code === 1 || code === 134) });
      expect((await runtime.exec('print(1)', python())).stdout).toBe('1\n');
    }));

  test('a program returns a value', () =>
    withPython(async (runtime) => {
      const { value } = await runtime.run<object>('__return({"a": [1, None, True, "x"]})', python());
      expect(value).toEqual({ a: [1, null, true, 'x'] });
      expect((await runtime.run('1', python())).value).toBeUndefined();
    }));

  test('an installed package can be imported', () =>
    withPython(async (runtime) => {
      await runtime.writeFile('/usr/local/lib/python3.13/site-packages/greeting.py', 'text = "hello"\n');
      expect((await runtime.exec('import greeting\nprint(greeting.text)', python())).stdout).toBe('hello\n');
      const { stdout } = await runtime.execCommand('python3', ['-c', 'import greeting; print(greeting.__file__)']);
      expect(stdout).toBe('/usr/local/lib/python3.13/site-packages/greeting.py\n');
    }));

  test('a file runs by its extension, its first line and its language', () =>
    withPython(async (runtime) => {
      const code = '#!/usr/bin/env python3\nimport sys\nprint(__name__, sys.argv)\n';
      await runtime.writeFile('/workspace/a.py', code);
      await runtime.writeFile('/workspace/tool', code);
      expect((await runtime.execFile('/workspace/a.py', { args: ['b'] })).stdout).toBe("__main__ ['/workspace/a.py', 'b']\n");
      expect((await runtime.execFile('/workspace/tool', python())).stdout).toBe("__main__ ['/workspace/tool']\n");
      const { stdout } = await runtime.execCommand('sh', ['-c', 'chmod +x tool && ./tool 1 && python tool 2']);
      expect(stdout).toBe("__main__ ['./tool', '1']\n__main__ ['tool', '2']\n");
    }));

  test('children of a shell and of Node run Python', () =>
    withPython(async (runtime) => {
      const pipeline = 'echo 20 | python3 -c "print(int(input()) * 2 + 2)" | cat; python3 -c "exit(5)"; echo $?';
      expect((await runtime.execCommand('sh', ['-c', pipeline])).stdout).toBe('42\n5\n');
      const code = `import { execFileSync } from 'node:child_process';
        console.log(execFileSync('python3', ['-c', 'import sys; print(sys.argv[1])', 'x'], { encoding: 'utf8' }).trim());`;
      expect(await runtime.exec(code)).toMatchObject({ stdout: 'x\n', stderr: '' });
      const child = await runtime.spawnCommand('python3', ['-c', 'print(input())']);
      await child.writeStdin('later\n');
      await child.closeStdin();
      expect(await child.result).toMatchObject({ exitCode: 0, stdout: 'later\n' });
    }));

  const printed = async (runner: ResidentRunner, code: string) => (await runner.exec(code)).stdout;

  test('a runner keeps its state and survives failures', () =>
    withPython(async (runtime) => {
      const runner = await runtime.createResidentRunner({ language: 'python' });
      await runner.exec('n = 40');
      expect(await printed(runner, 'n += 1\nprint(n)')).toBe('41\n');
      expect(await runner.exec('1 / 0')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ZeroDivisionError') });
      expect(await runner.exec('while True: pass', { timeout: 100 })).toMatchObject({ error: { code: 'ERR_TIMEOUT' } });
      expect((await runner.run<number>('__return(n)')).value).toBe(41);
      await runner.dispose();
    }));

  test('snapshots, clones and rollbacks keep the state of a runner', () =>
    withPython(async (runtime) => {
      const runner = await runtime.createResidentRunner({ language: 'python' });
      await runner.exec('n = 40\nopen("/workspace/n", "w").write("40")');
      const snapshot = await runtime.snapshot();
      await runner.exec('n = 0\nopen("/workspace/n", "w").write("0")');
      const copies = [await NodeRuntime.create({ snapshot }), await NodeRuntime.create({ snapshot })];
      try {
        for (const copy of copies) {
          const copied = await runnerOf(copy);
          expect(await printed(copied, 'n += 1\nprint(n, open("/workspace/n").read())')).toBe('41 40\n');
          expect(await printed(copied, 'import colorsys; print(colorsys.__name__)')).toBe('colorsys\n');
        }
      } finally {
        await disposeAll(copies);
      }
      await runtime.rollback(snapshot);
      expect(await printed(runner, 'print(n, open("/workspace/n").read())')).toBe('40 40\n');
    }));

  test('two copies of a runner have different random numbers', () =>
    withPython(async (runtime) => {
      const runner = await runtime.createResidentRunner({ language: 'python' });
      await runner.exec('import os, random, secrets, tempfile\nrandom.seed(1)');
      const snapshot = await runtime.snapshot();
      const copies = [await NodeRuntime.create({ snapshot }), await NodeRuntime.create({ snapshot })];
      try {
        const code = 'print(random.random(), secrets.token_hex(8), next(tempfile._get_candidate_names()))';
        const [first, second] = await Promise.all(
          copies.map(async (copy) => (await printed(await runnerOf(copy), code)).split(' ')),
        );
        for (const [index, text] of first?.entries() ?? []) expect(second?.[index]).not.toBe(text);
        for (const copy of copies) expect(await printed(await runnerOf(copy), 'print(os.getppid())')).toBe('1\n');
      } finally {
        await disposeAll(copies);
      }
    }));

  const lines = async (runtime: NodeRuntime, code: string) => {
    const { stdout, stderr } = await runtime.exec(code, python({ cwd: '/workspace' }));
    expect(stderr).toBe('');
    return stdout.trimEnd().split('\n');
  };

  test('files have the modes, owners, times and attributes of Linux', () =>
    withPython(async (runtime) => {
      const code = `
import os, shutil
os.close(os.open('g', os.O_CREAT | os.O_WRONLY, 0o600))
os.mkdir('d', 0o700)
print(oct(os.stat('g').st_mode), oct(os.stat('d').st_mode), os.stat('g').st_uid, os.umask(0o22))
os.chmod('g', 0o755)
os.link('g', 'h')
os.utime('g', ns=(1, 1234567890123456789))
print(oct(os.stat('g').st_mode), os.access('g', os.X_OK), os.stat('g').st_nlink, os.stat('g').st_mtime_ns)
os.setxattr('g', 'user.a', b'v')
print(os.getxattr('g', 'user.a'), os.listxattr('g'))
os.makedirs('t/a/b')
os.symlink('x', 't/l')
shutil.rmtree('t')
folder = os.open('.', os.O_RDONLY | os.O_DIRECTORY)
print(os.path.exists('t'), shutil.rmtree.avoids_symlink_attacks, oct(os.stat('d', dir_fd=folder).st_mode))
for call in (lambda: os.chown('g', 0, 0), lambda: os.getxattr('g', 'user.b'), lambda: open('/usr/x', 'w')):
    try: call()
    except OSError as error: print(type(error).__name__, error)`;
      expect(await lines(runtime, code)).toEqual([
        '0o100600 0o40700 1000 18',
        '0o100755 True 2 1234567890123456789',
        "b'v' ['user.a']",
        'False True 0o40700',
        "PermissionError [Errno 1] Operation not permitted: 'g'",
        "OSError [Errno 61] No data available: 'g'",
        "PermissionError [Errno 13] Permission denied: '/usr/x'",
      ]);
    }));

  test("descriptors, terminals and processes are the kernel's", () =>
    withPython(async (runtime) => {
      const code = `
import fcntl, grp, os, pwd, resource, sys, termios, tty
reader, writer = os.pipe()
os.set_blocking(reader, False)
try: os.read(reader, 1)
except BlockingIOError as error: print(error.errno)
flags = fcntl.fcntl(reader, fcntl.F_GETFL)
print(flags & os.O_NONBLOCK, os.get_blocking(writer), os.dup2(writer, 20), fcntl.flock(writer, fcntl.LOCK_EX))
master, slave = os.openpty()
before = termios.tcgetattr(slave)
tty.setraw(slave)
print(os.isatty(slave), os.ttyname(slave), tuple(os.get_terminal_size(slave)), before != termios.tcgetattr(slave))
print(os.getuid(), os.getgroups(), os.getpgid(0) == os.getpid(), os.getppid(), os.kill(os.getpid(), 0))
print(pwd.getpwuid(1000).pw_dir, grp.getgrgid(1000).gr_name, resource.getrlimit(resource.RLIMIT_NOFILE))
print(sys.platform, os.uname().machine, os.cpu_count(), os.times().user < 60)`;
      expect(await lines(runtime, code)).toEqual([
        '11',
        '2048 True 20 None',
        'True /dev/pts/0 (80, 24) True',
        '1000 [1000] True 1 None',
        '/home/user user (1024, 1024)',
        'linux wasm32 1 True',
      ]);
    }));

  test('hashlib derives keys, zoneinfo has zones, and missing modules name the reason', () =>
    withPython(async (runtime) => {
      const code = `
import datetime, hashlib, zoneinfo
print(hashlib.pbkdf2_hmac('sha256', b'password', b'salt', 1).hex()[:16])
print(hashlib.scrypt(b'password', salt=b'NaCl', n=1024, r=8, p=16).hex()[:16])
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Paris')), len(zoneinfo.available_timezones()) > 500)
try: import ctypes
except ImportError as error: print(error)`;
      expect(await lines(runtime, code)).toEqual([
        '120fb6cffcf8b32c',
        'fdbabe1c9d347200',
        '2024-07-01 00:00:00+02:00 True',
        'ctypes is not available: a guest in WebAssembly cannot load native libraries',
      ]);
    }));

  test('mmap copies a file, and refuses to write to the file', () =>
    withPython(async (runtime) => {
      const code = `
import mmap, re
open('a.txt', 'wb').write(b'one\\ntwo\\nthree')
with open('a.txt', 'r+b') as file:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        print(len(data), data[:3], data.find(b'two'), data.readline(), re.findall(rb't\\w+', data))
        try: data[0] = 1
        except TypeError as error: print(error)
    copy = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    copy[:3] = b'ONE'
    print(copy.read(3), file.read(3), bytes(memoryview(copy)[:2]))
    try: mmap.mmap(file.fileno(), 0)
    except OSError as error: print(error)
anonymous = mmap.mmap(-1, 8)
anonymous.write(b'abc')
anonymous.seek(1)
print(anonymous.read())`;
      expect(await lines(runtime, code)).toEqual([
        "13 b'one' 4 b'one\\n' [b'two', b'three']",
        'cannot modify read-only memory',
        "b'ONE' b'one' b'ON'",
        '[Errno 19] a map cannot write to its file: use ACCESS_READ, ACCESS_COPY or write()',
        "b'bc\\x00\\x00\\x00\\x00\\x00'",
      ]);
    }));

  test('packages are found in /usr/local and in the home directory', () =>
    withPython(async (runtime) => {
      for (const folder of ['/usr/local/lib', '/home/user/.local/lib']) {
        await runtime.mkdir(`${folder}/python3.13/site-packages`, { recursive: true });
      }
      await runtime.writeFile('/usr/local/lib/python3.13/site-packages/of_all.py', 'name = __file__');
      await runtime.writeFile('/usr/local/lib/python3.13/site-packages/more.pth', '/workspace/more\n');
      await runtime.writeFile('/home/user/.local/lib/python3.13/site-packages/own.py', 'name = __file__');
      await runtime.mkdir('/workspace/more');
      const code = `
import of_all, own, sys, sysconfig
print(of_all.name, own.name, "/workspace/more" in sys.path, sysconfig.get_path("purelib"))`;
      expect(await lines(runtime, code)).toEqual([
        '/usr/local/lib/python3.13/site-packages/of_all.py /home/user/.local/lib/python3.13/site-packages/own.py True ' +
          '/usr/local/lib/python3.13/site-packages',
      ]);
    }));

  test('a command line has its options and arguments', () =>
    withPython(async (runtime) => {
      const { stdout } = await runtime.execCommand('python3', [
        '-u',
        '-c',
        'import sys; print(sys.argv, sys.executable)',
        'a',
        '-b',
      ]);
      expect(stdout).toBe("['-c', 'a', '-b'] /usr/bin/python3\n");
    }));
});
