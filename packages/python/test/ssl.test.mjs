// Tests contexts, suites, certificates and names of hosts in the dev host, which has no sessions of
// TLS. packages/sdk/test/sandbox/python-ssl.test.ts has the tests of sessions.
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonPath } from '../build/paths.mjs';
import { GuestThread } from './guest-thread.mjs';

const certificates = new URL('../../sdk/test/sandbox/tls-certificates.ts', import.meta.url);
const pem = /CERTIFICATE = `([^`]+)`/.exec(readFileSync(certificates, 'utf8'))[1];

describe.skipIf(!existsSync(pythonPath))('ssl of Python', () => {
  let guest;
  beforeAll(async () => {
    guest = await GuestThread.start();
  });
  afterAll(() => guest?.stop());

  async function lines(source) {
    const { stdout, stderr } = await guest.run({ mode: 'exec', source: `import ssl, _ssl\n${source}` });
    expect(stderr).toBe('');
    return stdout.trimEnd().split('\n');
  }

  it('makes contexts with the defaults of OpenSSL', async () => {
    const source = `
for purpose in (ssl.Purpose.SERVER_AUTH, ssl.Purpose.CLIENT_AUTH):
    context = ssl.create_default_context(purpose)
    print(context.protocol.name, context.verify_mode.name, context.check_hostname, context.minimum_version.name)
    print(context.verify_flags.name)`;
    const flags = 'VERIFY_X509_STRICT|VERIFY_X509_TRUSTED_FIRST|VERIFY_X509_PARTIAL_CHAIN';
    expect(await lines(source)).toEqual([
      'PROTOCOL_TLS_CLIENT CERT_REQUIRED True TLSv1_2',
      flags,
      'PROTOCOL_TLS_SERVER CERT_NONE False TLSv1_2',
      flags,
    ]);
  });

  it('chooses the suites of a list in the order of the list', async () => {
    const source = `
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
for text in ('ECDHE+AESGCM:!aRSA', 'ECDHE-RSA-CHACHA20-POLY1305:AES128', '@SECLEVEL=2:ECDH+AESGCM:DHE+AES:!aNULL:!SHA1', 'xyz'):
    try:
        context.set_ciphers(text)
        print(*(suite['name'] for suite in context.get_ciphers()[3:]))
    except ssl.SSLError as error:
        print(error)`;
    expect(await lines(source)).toEqual([
      'ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-ECDSA-AES128-GCM-SHA256',
      'ECDHE-RSA-CHACHA20-POLY1305 ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-GCM-SHA256',
      'ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-GCM-SHA384 ECDHE-ECDSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-GCM-SHA256',
      "('No cipher can be selected.',)",
    ]);
  });

  it('compares names with the names in a certificate', async () => {
    const source = `
from _ssl import hostnames
def matches(pattern, host, flags=ssl._ssl.HOSTFLAG_NO_PARTIAL_WILDCARDS):
    return hostnames._matches(pattern, host, flags)
print([matches(*pair) for pair in (
    ('a.example.com', 'A.example.com'), ('*.example.com', 'a.example.com'), ('*.example.com', 'example.com'),
    ('*.example.com', 'a.b.example.com'), ('*.com', 'example.com'), ('a*.example.com', 'ab.example.com'),
    ('*', 'a'), ('a.example.com', 'a.example.com.'))])
print(matches('a*.example.com', 'ab.example.com', 0), matches('*.example.com', 'a.example.com', 2))`;
    expect(await lines(source)).toEqual(['[True, True, False, False, False, False, False, True]', 'True False']);
  });

  it('reads a certificate as CPython with OpenSSL does', async () => {
    const source = `
import json
open('certificate.pem', 'w').write(${JSON.stringify(pem)})
print(json.dumps(_ssl._test_decode_cert('certificate.pem')))`;
    const [text] = await lines(source);
    expect(JSON.parse(text)).toEqual({
      subject: [[['countryName', 'DE']], [['organizationName', 'Coldframe']], [['commonName', 'localhost']]],
      issuer: [[['commonName', 'Coldframe test authority']]],
      version: 3,
      serialNumber: '37314D3C443223871F2C3C684243AEDFAD3B8F3B',
      notBefore: 'Nov 23 19:09:58 2026 GMT',
      notAfter: 'Oct 30 19:09:58 2126 GMT',
      subjectAltName: [
        ['DNS', 'localhost'],
        ['DNS', 'secure.example.com'],
        ['IP Address', '127.0.0.1'],
      ],
      OCSP: ['http://ocsp.example.com/'],
    });
  });

  it('has the errors, objects and buffers of the library', async () => {
    const source = `
print([error.__name__ for error in ssl.SSLCertVerificationError.__mro__[:4]], ssl.SSLWantReadError.__module__)
print(tuple(ssl.Purpose.CLIENT_AUTH), ssl._ssl.nid2obj(13)[1])
bio = ssl.MemoryBIO()
print(bio.write(b'abc'), bio.read(2), bio.pending, bio.eof)
bio.write_eof()
print(bio.read(), bio.eof, len(ssl.RAND_bytes(16)), ssl.RAND_status(), ssl.OPENSSL_VERSION.startswith('OpenSSL '))`;
    expect(await lines(source)).toEqual([
      "['SSLCertVerificationError', 'SSLError', 'OSError', 'ValueError'] ssl",
      "(130, 'clientAuth', 'TLS Web Client Authentication', '1.3.6.1.5.5.7.3.2') CN",
      "3 b'ab' 1 False",
      "b'c' True 16 True True",
    ]);
  });
});
