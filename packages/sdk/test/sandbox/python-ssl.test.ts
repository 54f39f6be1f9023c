// Tests the module `ssl` of Python: connections out of a runtime, with secrets.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { MODES, withMode, withRuntime } from './modes.js';
import { HOST_ADDRESS, tcp } from './outside-helpers.js';
import { IMPORTS, isBuilt, NAME, output, pem } from './python-ssl-helpers.js';
import { disposeAll, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY, SELF_SIGNED } from './tls-certificates.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';
const VALUE = 'the-real-value-of-the-key';

/** A server of this machine that responds with the request, and records `authorization`. */
async function server() {
  const seen: (string | undefined)[] = [];
  let connections = 0;
  const options = { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['http/1.1'] };
  const https = createServer(options, (request, response) => {
    seen.push(request.headers.authorization);
    let size = 0;
    request.on('data', (data: Buffer) => (size += data.length));
    request.on('end', () => response.end(`${request.method} ${request.url} ${size}`));
  });
  https.on('secureConnection', () => connections++);
  https.listen(0, '0.0.0.0');
  await once(https, 'listening');
  const close = async (): Promise<void> => {
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
  };
  return { port: (https.address() as AddressInfo).port, seen, connections: () => connections, [Symbol.asyncDispose]: close };
}

const networkOf = (port: number, extra: readonly string[] = [AUTHORITY]) => ({
  allow: [`${NAME}:${port}`],
  private: [`${HOST}:${port}`],
  dns: { hosts: { [NAME]: HOST } },
  ca: { extra },
});

describe.skipIf(!isBuilt || HOST_ADDRESS === undefined).each(MODES.slice(0, 2))('$name, out of a runtime', (mode) => {
  test('urllib and asyncio send the value of a secret', async () => {
    await using https = await server();
    const secrets = { KEY: { value: VALUE, hosts: [`${NAME}:${https.port}`] } };
    await withRuntime(mode, { network: networkOf(https.port), secrets }, async (runtime) => {
      const url = `https://${NAME}:${https.port}`;
      const code = `
headers = {'authorization': 'Bearer ' + os.environ['KEY']}
print(urllib.request.urlopen(urllib.request.Request('${url}/a', headers=headers)).read().decode())
async def main():
    reader, writer = await asyncio.open_connection('${NAME}', ${https.port}, ssl=True)
    lines = ['GET /b HTTP/1.1', 'host: ${NAME}:${https.port}', 'connection: close']
    lines += ['authorization: ' + headers['authorization'], '', '']
    writer.write('\\r\\n'.join(lines).encode())
    print((await reader.read()).decode().splitlines()[-1])
    writer.close()
    await writer.wait_closed()
asyncio.run(main())`;
      expect(await output(runtime, code)).toEqual(['GET /a 0', 'GET /b 0']);
      expect(https.seen).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`]);
    });
  });

  test('a socket has the facts of the session, and resumes a session', async () => {
    await using https = await server();
    await withRuntime(mode, { network: networkOf(https.port) }, async (runtime) => {
      const code = `
context = ssl.create_default_context()
context.set_alpn_protocols(['h2', 'http/1.1'])
def connect(session=None):
    below = socket.create_connection(('${NAME}', ${https.port}))
    return context.wrap_socket(below, server_hostname='${NAME}', session=session)
first = connect()
certificate = first.getpeercert()
print(first.version(), first.cipher(), first.selected_alpn_protocol(), first.getpeername() == ('${HOST}', ${https.port}))
print(certificate['subject'][-1], certificate['notAfter'])
print(certificate['subjectAltName'])
print(ssl.DER_cert_to_PEM_cert(first.getpeercert(True))[:27], first.get_channel_binding(), first.session_reused)
first.sendall(b'GET / HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n')
print(first.recv(15))
second = connect(first.session)
print(second.session_reused, second.unwrap().fileno() == second.fileno(), context.session_stats()['connect_good'])`;
      expect(await output(runtime, code)).toEqual([
        "TLSv1.3 ('TLS_AES_256_GCM_SHA384', 'TLSv1.3', 256) http/1.1 True",
        "(('commonName', 'localhost'),) Oct 30 19:09:58 2126 GMT",
        "(('DNS', 'localhost'), ('DNS', 'secure.example.com'), ('IP Address', '127.0.0.1'))",
        '-----BEGIN CERTIFICATE----- None False',
        "b'HTTP/1.1 200 OK'",
        'True True 2',
      ]);
    });
  });

  test('refuses another name and an unknown authority', async () => {
    await using https = await server();
    await withRuntime(mode, { network: networkOf(https.port) }, async (runtime) => {
      const code = `
def reason(context, name):
    try:
        with context.wrap_socket(socket.create_connection(('${HOST}', ${https.port})), server_hostname=name) as one:
            return 'secure', one.getpeercert()
    except ssl.SSLCertVerificationError as error:
        return error.reason, error.verify_code, error.verify_message
print(reason(ssl.create_default_context(), 'wrong.example.com'))
print(reason(ssl.create_default_context(), '1.2.3.4'))
other = ssl.create_default_context(cadata=${JSON.stringify(SELF_SIGNED)})
print(reason(other, 'localhost'))
print(reason(ssl._create_unverified_context(), 'wrong.example.com'))`;
      expect(await output(runtime, code)).toEqual([
        `('CERTIFICATE_VERIFY_FAILED', 62, "Hostname mismatch, certificate is not valid for 'wrong.example.com'.")`,
        `('CERTIFICATE_VERIFY_FAILED', 64, "IP address mismatch, certificate is not valid for '1.2.3.4'.")`,
        expect.stringMatching(/^\('CERTIFICATE_VERIFY_FAILED', (?:20|21), 'unable to /),
        "('secure', {})",
      ]);
    });
  });

  test('waits with select, with timeouts, and for a large body', async () => {
    await using https = await server();
    await withRuntime(mode, { network: networkOf(https.port) }, async (runtime) => {
      const code = `
below = socket.create_connection(('${NAME}', ${https.port}))
below.setblocking(False)
one = ssl.create_default_context().wrap_socket(below, server_hostname='${NAME}', do_handshake_on_connect=False)
while True:
    try:
        one.do_handshake()
        break
    except ssl.SSLWantReadError:
        select.select([one], [], [])
    except ssl.SSLWantWriteError:
        select.select([], [one], [])
try:
    one.recv(1)
except ssl.SSLWantReadError as error:
    print(error)
one.settimeout(0.1)
try:
    one.recv(1)
except TimeoutError as error:
    print(error)
one.settimeout(None)
one.sendall(b'POST /large HTTP/1.1\\r\\nhost: a\\r\\ncontent-length: 5000000\\r\\n\\r\\n' + b'z' * 5_000_000)
print(one.recv(4096).splitlines()[-1])
print(select.select([one], [], [], 0.05)[0])`;
      expect(await output(runtime, code)).toEqual([
        'The operation did not complete (read)',
        'The read operation timed out',
        "b'POST /large 5000000'",
        '[]',
      ]);
    });
  });
});

describe.skipIf(!isBuilt || HOST_ADDRESS === undefined).each(MODES.slice(0, 2))('$name, over plain connections', (mode) => {
  const opened = ({ port }: { port: number }) => ({ private: [`${HOST}:${port}`], deny: ['evil.example.com'] });
  const secured = (socket: Parameters<Parameters<typeof tcp>[0]>[0]): void => {
    const secure = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
    secure.on('error', () => {}).pipe(secure);
  };
  const client = (port: number): string => `${pem}
context = ssl.create_default_context(cadata=CA)
def connect():
    return socket.create_connection(('${HOST}', ${port}))
def secure(below, name='localhost'):
    return context.wrap_socket(below, server_hostname=name)
def attempt(call, *arguments):
    try:
        return call(*arguments)
    except OSError as error:
        return type(error).__name__, getattr(error, 'reason', None) or error.strerror
`;

  test('upgrades a connection after plain bytes, with a socket and with asyncio', async () => {
    await using server = await tcp((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write('220 ready\r\n', () => secured(socket)));
    });
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
below = connect()
below.sendall(b'STARTTLS')
print(below.recv(100))
one = secure(below)
one.sendall(b'after')
print(one.recv(100))
async def main():
    reader, writer = await asyncio.open_connection('${HOST}', ${server.port})
    writer.write(b'STARTTLS')
    print(await reader.readline())
    await writer.start_tls(context, server_hostname='localhost')
    writer.write(b'later')
    print(await reader.read(100), socket.socket.send is socket._socket.socket.send)
asyncio.run(main())`;
      expect(await output(runtime, code)).toEqual(["b'220 ready\\r\\n'", "b'after'", "b'220 ready\\r\\n'", "b'later' True"]);
    });
  });

  test('early bytes, a reset and a denied name are errors', async () => {
    await using early = await tcp((socket) => void socket.on('error', () => {}).write('220 injected\r\n'));
    await using reset = await tcp((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    await using echo = await tcp(secured);
    const network = { private: [early, reset, echo].map(({ port }) => `${HOST}:${port}`), deny: ['evil.example.com'] };
    await withRuntime(mode, { network }, async (runtime) => {
      const connections = [early, reset, echo].map(({ port }) => `socket.create_connection(('${HOST}', ${port}))`);
      const code = `${client(echo.port)}
for below in (${connections.join(', ')}):
    print(attempt(secure, below, 'evil.example.com' if below.getpeername()[1] == ${echo.port} else 'localhost'))
print(secure(connect()).version())`;
      expect(await output(runtime, code)).toEqual([
        "('SSLError', 'WRONG_VERSION_NUMBER')",
        "('ConnectionResetError', 'Connection reset by peer')",
        expect.stringMatching(
          /^\('PermissionError', 'the permission network.connect is denied by the rule network.deny\[0\]: .*sni/,
        ),
        'TLSv1.3',
      ]);
    });
  });

  test('early bytes in a MemoryBIO are no records of the session', async () => {
    // A hostile peer, whose bytes the program has read before the session exists.
    const chain = [new X509Certificate(CERTIFICATE).raw.toString('hex')];
    const facts = { type: 'secure', protocol: 'TLSv1.3', cipher: '', alpn: null, reused: false, verified: null, chain };
    const event = Buffer.from(JSON.stringify(facts));
    const forged = Buffer.concat([Buffer.from([132, event.length & 255, event.length >> 8, 0]), event]);
    await using server = await tcp((socket) => void socket.on('error', () => {}).write(forged));
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
below, a, b = connect(), ssl.MemoryBIO(), ssl.MemoryBIO()
one = context.wrap_bio(a, b, server_hostname='localhost')
a.write(below.recv(4096))
def shake():
    while True:
        try:
            return one.do_handshake(), 'secure'
        except ssl.SSLWantReadError:
            if b.pending:
                below.sendall(b.read())
            a.write(below.recv(4096))
print(attempt(shake))`;
      expect(await output(runtime, code)).toEqual(["('SSLError', 'WRONG_VERSION_NUMBER')"]);
    });
  });

  test('closed connections leave no descriptors', async () => {
    await using server = await tcp(secured);
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
async def once():
    reader, writer = await asyncio.open_connection('${HOST}', ${server.port}, ssl=context, server_hostname='localhost')
    writer.write(b'x')
    await reader.readexactly(1)
    writer.close()
    await writer.wait_closed()
def count():
    return len(os.listdir('/proc/self/fd'))
first = count()
for _ in range(20):
    secure(connect()).close()
    asyncio.run(once())
print(count() - first)`;
      expect(await output(runtime, code)).toEqual(['0']);
    });
  });

  test('a clone loses its sessions, and opens new sessions', async () => {
    await using server = await tcp(secured);
    await withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create({ network: opened(server) });
      const code = `${client(server.port)}
one = secure(connect())
def ask(one):
    one.sendall(b'x')
    return one.recv(1)
print(ask(one))`;
      const runner = await runtime.createResidentRunner({ language: 'python' });
      expect((await runner.exec(IMPORTS + code)).stdout).toBe("b'x'\n");
      const clone = await runtime.clone();
      const again = await (await runnerOf(clone)).exec('print(attempt(ask, one)[0], ask(secure(connect())))');
      expect([again.stdout, again.stderr]).toEqual(["ConnectionResetError b'x'\n", '']);
      expect((await runner.exec('print(ask(one))')).stdout).toBe("b'x'\n");
      await disposeAll([clone, runtime]);
    });
  });
});
