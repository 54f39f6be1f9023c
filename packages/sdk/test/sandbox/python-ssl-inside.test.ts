// Tests the module `ssl` of Python: connections between Python and Node inside a runtime.

import { createPrivateKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { files, IMPORTS, isBuilt, output } from './python-ssl-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY, SELF_SIGNED_KEY } from './tls-certificates.js';

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
