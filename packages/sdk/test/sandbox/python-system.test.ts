// Tests what programs in Python do with the kernel: sockets, children, signals and `asyncio`.

import { pythonDir } from '@coldframe/python';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type RunOptions } from '../../src/index.js';

const isBuilt = pythonDir() !== undefined;

describe.skipIf(!isBuilt)('a program in Python', () => {
  let runtime: NodeRuntime;
  beforeAll(async () => {
    runtime = await NodeRuntime.create();
  });
  afterAll(() => runtime?.dispose());

  const python = (code: string, options: RunOptions = {}) =>
    runtime.exec(code, { language: 'python', timeout: 20_000, ...options });
  const outputOf = async (code: string): Promise<string> => {
    const { stdout, stderr } = await python(code);
    expect(stderr).toBe('');
    return stdout;
  };

  describe('with sockets', () => {
    test('connects to itself with TCP, UDP and Unix sockets', async () => {
      const code = `
import os, socket
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "/tmp/socket"),
):
    with socket.socket(family, kind) as server, socket.socket(family, kind) as client:
        server.bind(address)
        server.listen()
        client.connect(server.getsockname())
        peer, _ = server.accept()
        client.sendall(b"x" * 10)
        client.shutdown(socket.SHUT_WR)
        print(len(peer.recv(100)), peer.recv(100))
        peer.close()
with socket.socket(type=socket.SOCK_DGRAM) as a, socket.socket(type=socket.SOCK_DGRAM) as b:
    a.bind(("127.0.0.1", 0))
    b.sendto(b"message", a.getsockname())
    print(a.recvfrom(100)[0])`;
      expect(await outputOf(code)).toBe("10 b''\n10 b''\n10 b''\nb'message'\n");
    });

    test('serves a client in JavaScript, and is a client of a server in JavaScript', async () => {
      const server = `
import socket
connection, _ = socket.create_server(("127.0.0.1", 9001)).accept()
with connection, connection.makefile("rwb") as file: file.write(b"echo " + file.readline())`;
      const client = `
import { connect } from 'node:net';
const attempt = () => {
  const socket = connect(9001, '127.0.0.1').on('error', () => setTimeout(attempt, 20));
  socket.on('data', (data) => console.log(String(data))).write('hi\\n');
};
attempt();`;
      const [, { stdout }] = await Promise.all([python(server), runtime.exec(client)]);
      expect(stdout).toBe('echo hi\n\n');

      const http = `
import { createServer } from 'node:http';
const server = createServer((request, response) => { response.end(request.url); server.close(); });
server.listen(9002);`;
      const request = `
import time, urllib.request
for _ in range(100):
    try: print(urllib.request.urlopen("http://localhost:9002/path").read()); break
    except OSError: time.sleep(0.02)`;
      const [, answered] = await Promise.all([runtime.exec(http), python(request)]);
      expect(answered.stdout).toBe("b'/path'\n");
    });

    test('waits with time limits, and does not wait without blocking', async () => {
      const code = `
import select, socket
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(0.02)
try: server.accept()
except TimeoutError as error: print(error)
server.setblocking(False)
try: server.accept()
except BlockingIOError: print("would block")
a, b = socket.socketpair()
print(select.select([a], [], [], 0.02))
b.send(b"1")
poll = select.poll()
poll.register(a, select.POLLIN)
print(select.select([a], [], [], 1)[0] == [a], poll.poll(1000) == [(a.fileno(), select.POLLIN)])
try: socket.create_connection(("127.0.0.1", 1))
except ConnectionRefusedError: print("refused")`;
      expect(await outputOf(code)).toBe('timed out\nwould block\n([], [], [])\nTrue True\nrefused\n');
    });

    test('looks up names', async () => {
      const code = `
import socket
print(socket.gethostbyname("localhost"), socket.getaddrinfo("localhost", "http", socket.AF_INET6, socket.SOCK_STREAM)[0][4])
print(socket.getnameinfo(("127.0.0.1", 443), 0), socket.gethostname())
try: socket.getaddrinfo("example.com", 80)
except OSError as error: print(type(error).__name__)`;
      expect(await outputOf(code)).toBe("127.0.0.1 ('::1', 80, 0, 0)\n('localhost', 'https') coldframe\nPermissionError\n");
    });

    test('serves HTTP with the standard library', async () => {
      await runtime.writeFile('/tmp/site/a.txt', 'text');
      const code = `
import subprocess, sys, time, urllib.request
server = subprocess.Popen([sys.executable, "-m", "http.server", "9003", "-d", "/tmp/site"], stderr=subprocess.DEVNULL)
for _ in range(100):
    try: print(urllib.request.urlopen("http://localhost:9003/a.txt").read()); break
    except OSError: time.sleep(0.02)
server.terminate()
print(server.wait())`;
      expect(await outputOf(code)).toBe("b'text'\n-15\n");
    });
  });

  describe('with asyncio', () => {
    test('runs tasks, servers, executors and children', async () => {
      const code = `
import asyncio
async def serve(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()
async def ask(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    return await reader.read()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(ask(port, b"%d a\\n" % number) for number in range(3))))
    try: await asyncio.wait_for(asyncio.sleep(5), 0.01)
    except TimeoutError: print("timeout")
    print(await asyncio.to_thread(int, "5"))
    child = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    print(await child.communicate(b"input"), child.returncode)
    child = await asyncio.create_subprocess_shell("echo a; exit 5", stdout=asyncio.subprocess.PIPE)
    print([line async for line in child.stdout], await child.wait())
asyncio.run(main())`;
      expect(await outputOf(code)).toBe("[b'0 A\\n', b'1 A\\n', b'2 A\\n']\ntimeout\n5\n(b'input', None) 0\n[b'a\\n'] 5\n");
    });
  });

  test('does not count a wait as processor time', async () => {
    const code = 'import time\nbegun = time.process_time()\ntime.sleep(0.5)\nprint(time.process_time() - begun < 0.2)';
    expect(await outputOf(code)).toBe('True\n');
  });

  describe('with children', () => {
    test('runs programs with input, output, directory and environment', async () => {
      const code = `
import os, subprocess, sys
run = lambda *args, **options: subprocess.run(*args, text=True, capture_output=True, **options)
print(run(["cat"], input="in").stdout, run(["node", "-p", "1 + 1"]).stdout, end="")
print(run([sys.executable, "-c", "print(input()[::-1])"], input="abc").stdout, end="")
print(run("echo $X; pwd; exit 4", shell=True, cwd="/tmp", env={"X": "y", "PATH": os.environ["PATH"]}))
print(os.waitstatus_to_exitcode(os.system("exit 3")), os.popen("echo piped").read(), end="")
print(len(subprocess.run(["cat"], input=b"x" * 1_000_000, capture_output=True).stdout))
with subprocess.Popen(["echo", "one\\ntwo"], stdout=subprocess.PIPE) as first:
    print(subprocess.run(["grep", "two"], stdin=first.stdout, capture_output=True).stdout)`;
      expect(await outputOf(code)).toBe(
        'in 2\ncba\n' +
          "CompletedProcess(args='echo $X; pwd; exit 4', returncode=4, stdout='y\\n/tmp\\n', stderr='')\n" +
          "3 piped\n1000000\nb'two\\n'\n",
      );
    });

    test('starts children with os.spawnv and its relatives', async () => {
      const code = `
import os
print(os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "exit 3"), os.spawnv(os.P_WAIT, "/missing", ["x"]))
print(os.spawnve(os.P_WAIT, "/bin/sh", ["sh", "-c", "exit $A"], {"A": "5"}))
print(os.waitstatus_to_exitcode(os.waitpid(os.spawnlp(os.P_NOWAIT, "missing", "x"), 0)[1]))`;
      expect(await outputOf(code)).toBe('3 127\n5\n127\n');
    });

    test('ends a child after a time limit, and reports programs that do not exist', async () => {
      const code = `
import subprocess
try: subprocess.run(["sleep", "10"], timeout=0.05)
except subprocess.TimeoutExpired: print("expired")
for options in ({"args": ["missing"]}, {"args": ["echo"], "cwd": "/missing"}):
    try: subprocess.run(**options)
    except FileNotFoundError as error: print(error.filename)
try: subprocess.run(["false"], check=True)
except subprocess.CalledProcessError as error: print(error.returncode)`;
      expect(await outputOf(code)).toBe('expired\nmissing\n/missing\n1\n');
    });

    test('waits for any child', async () => {
      const code = `
import os, subprocess
children = {subprocess.Popen(["sh", "-c", f"exit {code}"]).pid: code for code in (1, 2)}
for _ in range(2):
    pid, status = os.wait()
    print(os.WIFEXITED(status), os.WEXITSTATUS(status) == children[pid])
try: os.wait()
except ChildProcessError: print("none")`;
      expect(await outputOf(code)).toBe('True True\nTrue True\nnone\n');
    });
  });

  describe('with signals', () => {
    test('calls handlers, also during blocking calls, and continues the calls', async () => {
      const code = `
import os, signal, subprocess, time
received = []
signal.signal(signal.SIGUSR1, lambda number, frame: received.append(number))
signal.raise_signal(signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGUSR1)
print(received == [signal.SIGUSR1] * 2)
begin = time.monotonic()
child = subprocess.Popen(["sh", "-c", f"sleep 0.05; kill -USR1 {os.getpid()}"])
time.sleep(0.3)
print(len(received), time.monotonic() - begin >= 0.3)
def fail(number, frame): raise RuntimeError("terminated")
signal.signal(signal.SIGTERM, fail)
for block in (lambda: time.sleep(10), lambda: os.read(os.pipe()[0], 1), lambda: subprocess.run(["sleep", "10"]), signal.pause):
    subprocess.Popen(["sh", "-c", f"sleep 0.05; kill -TERM {os.getpid()}"])
    try: block()
    except RuntimeError as error: print(error)
read, write = os.pipe()
os.close(read)
try: os.write(write, b"x")
except BrokenPipeError: print("broken")`;
      expect(await outputOf(code)).toBe(`True\n3 True\n${'terminated\n'.repeat(4)}broken\n`);
    });

    test('receives SIGINT as KeyboardInterrupt, and ends by SIGTERM', async () => {
      const code = `
import { spawn } from 'node:child_process';
for (const signal of ['SIGINT', 'SIGTERM']) {
  const code = 'import time\\nprint(1)\\ntry: time.sleep(10)\\nexcept KeyboardInterrupt: print("interrupted")';
  const child = spawn('python3', ['-uc', code]);
  child.stdout.once('data', () => { child.kill(signal); child.stdout.on('data', (data) => console.log(String(data).trim())); });
  console.log(await new Promise((resolve) => child.on('close', (...end) => resolve(end.join(' ')))));
}`;
      const { stdout } = await runtime.exec(code);
      expect(stdout).toBe('interrupted\n0 \n SIGTERM\n');
    });

    test('receives SIGALRM at the time of a timer', async () => {
      const code = `
import os, select, signal, subprocess, time
def fail(number, frame): raise TimeoutError("alarm")
signal.signal(signal.SIGALRM, fail)
def loop():
    while True: pass
begin = time.monotonic()
blocks = (lambda: time.sleep(10), loop, lambda: select.select([os.pipe()[0]], [], []), lambda: os.read(os.pipe()[0], 1))
for block in (*blocks, lambda: subprocess.run(["sleep", "10"])):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try: block()
    except TimeoutError as error: print(error)
print(0.25 <= time.monotonic() - begin < 5, signal.alarm(10), signal.alarm(0), signal.getitimer(signal.ITIMER_REAL))`;
      expect(await outputOf(code)).toBe(`${'alarm\n'.repeat(5)}True 0 10 (0.0, 0.0)\n`);
    });

    test('takes part in asyncio', async () => {
      const code = `
import asyncio, os, signal, subprocess
async def main():
    received = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, received.set)
    subprocess.Popen(["sh", "-c", f"sleep 0.05; kill -TERM {os.getpid()}"])
    await asyncio.wait_for(received.wait(), 5)
    print("received")
asyncio.run(main())`;
      expect(await outputOf(code)).toBe('received\n');
    });
  });

  test.each([
    ['a sleep', 'import time\ntry: time.sleep(30)\nfinally: print("no")'],
    ['an accept', 'import socket\ntry: socket.create_server(("", 0)).accept()\nfinally: print("no")'],
    ['a wait for a child', 'import subprocess\ntry: subprocess.run(["sleep", "30"])\nfinally: print("no")'],
    ['a loop of asyncio', 'import asyncio\ntry: asyncio.run(asyncio.sleep(30))\nfinally: print("no")'],
  ])('that the time limit interrupts in %s ends', async (_, code) => {
    const begin = performance.now();
    const { exitCode, stdout } = await python(code, { timeout: 200 });
    expect([exitCode, stdout]).toEqual([124, '']);
    expect(performance.now() - begin).toBeLessThan(5_000);
  });
});
