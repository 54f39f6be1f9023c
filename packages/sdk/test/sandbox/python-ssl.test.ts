// Tests the module `ssl` of Python: connections out of a runtime with secrets, and connections
// between Python and Node inside a runtime.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { HOST_ADDRESS, tcp } from './outside-helpers.js';
import { disposeAll, runnerOf, usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY, SELF_SIGNED, SELF_SIGNED_KEY } from './tls-certificates.js';

usePrivateStoreFolder();

const IMAGE = fileURLToPath(new URL('../../../python/dist/python.image', import.meta.url));
const isBuilt = existsSync(process.env['COLDFRAME_PYTHON'] ?? IMAGE);
const HOST = HOST_ADDRESS ?? '';
const NAME = 'secure.example.com';
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

const IMPORTS = 'import asyncio, json, os, select, socket, ssl, time, urllib.request\n';
const pem = `CA, CERT, KEY = ${[AUTHORITY, CERTIFICATE, KEY].map((text) => JSON.stringify(text)).join(', ')}\n`;
/** Writes the certificate and the key to files, from which Python loads them. */
const files = `${pem}open('/tmp/cert.pem', 'w').write(CERT); open('/tmp/key.pem', 'w').write(KEY)\n`;

async function output(runtime: NodeRuntime, code: string): Promise<string[]> {
  const { stdout, stderr } = await runtime.exec(IMPORTS + code, { language: 'python' });
  return (stdout + stderr).trim().split('\n');
}

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

describe.skipIf(!isBuilt).each(MODES.slice(0, 2))('$name, inside a runtime', (mode) => {
  const within = (work: (runtime: NodeRuntime) => Promise<void>) => withRuntime(mode, { network: {} }, work);

  test('a server in Python accepts a client in Node', () =>
    within(async (runtime) => {
      const listener = await runtime.spawn(
        `${IMPORTS}${files}
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
context.set_alpn_protocols(['two'])
context.sni_callback = lambda one, name, own: print(name, flush=True)
with context.wrap_socket(socket.create_server(('127.0.0.1', 4433)), server_side=True) as listener:
    print('listens', flush=True)
    one, _ = listener.accept()
    data = b''
    while len(data) < 300_000:
        data += one.recv(65536)
    one.sendall(b'%d %s' % (len(data), one.selected_alpn_protocol().encode()))
    print(one.recv(10), one.version())
    one.close()`,
        { language: 'python' },
      );
      const client = `
        import tls from 'node:tls';
        const ca = ${JSON.stringify(AUTHORITY)};
        const options = { port: 4433, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['one', 'two'] };
        let socket;
        for (;;) {
          socket = tls.connect(options);
          const failure = await new Promise((resolve) => socket.on('secureConnect', () => resolve()).on('error', resolve));
          if (failure === undefined) break;
          if (failure.code !== 'ECONNREFUSED') throw failure;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        socket.write('x'.repeat(300_000));
        socket.once('data', (data) => { console.log(String(data)); socket.end(); });`;
      expect((await runtime.exec(client)).stdout).toBe('300000 two\n');
      const { stdout, stderr } = await listener.result;
      expect([stdout, stderr]).toEqual(["listens\nlocalhost\nb'' TLSv1.3\n", '']);
    }));

  test('a client in Python sends its certificate to a server in Node', () =>
    within(async (runtime) => {
      const code = `
        import tls from 'node:tls'; import { spawn } from 'node:child_process';
        const [cert, key, ca] = ${JSON.stringify([CERTIFICATE, KEY, AUTHORITY])};
        const server = tls.createServer({ cert, key, ca, requestCert: true }, (socket) => {
          socket.write(socket.getPeerCertificate().subject.CN + ' ' + 'y'.repeat(500_000));
          socket.pipe(socket);
        });
        server.listen(4434, '127.0.0.1', () => {
          const child = spawn('python3', ['/workspace/client.py'], { stdio: 'inherit' });
          child.on('exit', () => server.close());
        });`;
      await runtime.writeFile(
        '/workspace/client.py',
        `${IMPORTS}${files}
context = ssl.create_default_context(cadata=CA)
context.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
with context.wrap_socket(socket.create_connection(('127.0.0.1', 4434)), server_hostname='localhost') as one:
    first = b''
    while len(first) < 500_010:
        first += one.recv(65536)
    one.sendall(b'and back')
    print(first[:11], len(first), one.recv(100))
`,
      );
      const { stdout, stderr } = await runtime.exec(code);
      expect([stdout, stderr]).toEqual(["b'localhost y' 500010 b'and back'\n", '']);
    }));

  test('both ends of asyncio exchange bytes', () =>
    within(async (runtime) => {
      const code = `${files}
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
async def serve(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def main():
    listener = await asyncio.start_server(serve, '127.0.0.1', 0, ssl=context)
    port = listener.sockets[0].getsockname()[1]
    own = ssl.create_default_context(cadata=CA)
    reader, writer = await asyncio.open_connection('127.0.0.1', port, ssl=own, server_hostname='localhost')
    writer.write(b'z' * 1_000_000)
    print(len(await reader.readexactly(1_000_000)), writer.get_extra_info('cipher')[1])
    writer.close()
    await writer.wait_closed()
    listener.close()
asyncio.run(main())`;
      expect(await output(runtime, code)).toEqual(['1000000 TLSv1.3']);
    }));

  test('a server chooses its context by the name, and writes a key log', () =>
    within(async (runtime) => {
      const code = `${files}
def server(protocol):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
    context.set_alpn_protocols([protocol])
    return context
first, second = server('one'), server('two')
def choose(one, name, context):
    one.context = second if name == 'secure.example.com' else first
first.sni_callback = choose
own = ssl.create_default_context(cadata=CA)
own.set_alpn_protocols(['one', 'two'])
own.keylog_filename = '/tmp/keys'
def protocol(name):
    a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [own.wrap_bio(a, b, server_hostname=name), first.wrap_bio(b, a, server_side=True)]
    for end in ends * 2:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            pass
    return ends[0].selected_alpn_protocol()
print(protocol('localhost'), protocol('secure.example.com'))
print(sorted({line.split()[0] for line in open('/tmp/keys')})[0])`;
      expect(await output(runtime, code)).toEqual(['one two', 'CLIENT_HANDSHAKE_TRAFFIC_SECRET']);
    }));

  test('two sessions exchange bytes in memory, and end', () =>
    within(async (runtime) => {
      const code = `${files}
own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
own.load_cert_chain('/tmp/cert.pem', '/tmp/key.pem')
a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
server = own.wrap_bio(a, b, server_side=True)
client = ssl.create_default_context(cadata=CA).wrap_bio(b, a, server_hostname='localhost')
def attempt(call, *arguments):
    try:
        return call(*arguments)
    except ssl.SSLWantReadError:
        return 'waits'
for _ in range(3):
    attempt(client.do_handshake), attempt(server.do_handshake)
print(client.version(), client.write(b'hello'), server.read(10), attempt(server.read, 10))
print(attempt(client.unwrap), server.read(10), server.unwrap(), client.unwrap())`;
      expect(await output(runtime, code)).toEqual(["TLSv1.3 5 b'hello' waits", "waits b'' None None"]);
    }));

  test('loads an encrypted key, and the authorities of the operator in place of public lists', () =>
    within(async (runtime) => {
      const key = createPrivateKey(KEY).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' });
      await runtime.writeFile('/tmp/sealed.pem', key);
      const code = `${files}
os.makedirs('/tmp/certifi')
open('/tmp/certifi/cacert.pem', 'w').write(CA)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.load_cert_chain('/tmp/cert.pem', '/tmp/sealed.pem', lambda: b'open')
for password in ('wrong', None):
    try:
        context.load_cert_chain('/tmp/cert.pem', '/tmp/sealed.pem', password)
    except ssl.SSLError as error:
        print(error)
context.load_verify_locations('/tmp/certifi/cacert.pem')
print(context.cert_store_stats() == ssl.create_default_context().cert_store_stats())`;
      expect(await output(runtime, code)).toEqual(['[SSL] PEM lib', '[SSL] PEM lib', 'True']);
    }));

  test('names the missing option of a runtime without a network', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `
try:
    ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname='a').do_handshake()
except PermissionError as error:
    print(error)`;
      expect(await output(runtime, code)).toEqual(['[Errno 13] TLS is not available: the runtime has no option `network`']);
    }));

  test('loads certificates and keys, and refuses wrong files', () =>
    within(async (runtime) => {
      await runtime.writeFile('/tmp/other.pem', SELF_SIGNED_KEY);
      const code = `${files}
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
print(context.cert_store_stats(), context.get_ca_certs())
context.load_verify_locations(cadata=CA)
print(context.cert_store_stats(), context.get_ca_certs()[0]['subject'])
for call in (
    lambda: context.load_cert_chain('/tmp/cert.pem', '/tmp/other.pem'),
    lambda: context.load_cert_chain('/tmp/key.pem'),
    lambda: context.load_verify_locations(cadata='x'),
    lambda: context.set_ciphers('nonsense'),
    lambda: context.load_cert_chain('/no'),
):
    try:
        call()
    except OSError as error:
        print(type(error).__name__, error.reason if isinstance(error, ssl.SSLError) else '')
print(ssl.Purpose.SERVER_AUTH.oid, len(ssl.RAND_bytes(8)), ssl.TLSVersion(context.minimum_version).name)`;
      expect(await output(runtime, code)).toEqual([
        "{'x509': 0, 'crl': 0, 'x509_ca': 0} []",
        "{'x509': 1, 'crl': 0, 'x509_ca': 1} ((('commonName', 'Coldframe test authority'),),)",
        'SSLError KEY_VALUES_MISMATCH',
        'SSLError None',
        'SSLError NO_START_LINE',
        'SSLError None',
        'FileNotFoundError ',
        '1.3.6.1.5.5.7.3.1 8 TLSv1_2',
      ]);
    }));
});
