// The contexts of TLS in programs: PKCS #12 files, encrypted keys, signature schemes, chains that
// are completed, and clients without a certificate.

import { expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';
import { ENCRYPTED_KEY, STORE } from './tls-stores.js';

usePrivateStoreFolder();

const PROGRAM = `
  import tls from 'node:tls'; import { once } from 'node:events';
  const ca = ${JSON.stringify(AUTHORITY)};
  const cert = ${JSON.stringify(CERTIFICATE)};
  const key = ${JSON.stringify(KEY)};
  const encrypted = ${JSON.stringify(ENCRYPTED_KEY)};
  const pfx = Buffer.from(${JSON.stringify(STORE)}, 'base64');
  const connect = async (server, client, more = () => '') => {
    const one = tls.createServer(server);
    const failed = once(one, 'tlsClientError').then(([{ code }]) => code);
    const accepted = once(one, 'secureConnection').then(([socket]) => more(socket));
    one.listen(0); await once(one, 'listening');
    const socket = tls.connect({ port: one.address().port, servername: 'localhost', ...client });
    socket.on('error', () => {});
    const own = once(socket, 'secureConnect').then(() => socket, () => socket);
    const result = await Promise.race([failed, accepted]);
    const ended = await own;
    const issuer = ended.getPeerCertificate(true)?.issuerCertificate?.subject.CN;
    socket.destroy(); one.close();
    return [socket.authorized, issuer, result].join(' ').trim();
  };
  const fault = (call) => { try { call(); } catch ({ code, message }) { return [code, message].join(' ').trim(); } };
`;

const inside = (name: string, code: string, lines: readonly string[]): void => {
  test(name, () =>
    withRuntime(MODES[0] as (typeof MODES)[number], { network: {} }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(PROGRAM + code);
      expect((stdout + stderr).trim().split('\n')).toEqual(lines);
    }),
  );
};

inside(
  'serves with the key and the certificates of a PKCS #12 file',
  `console.log(await connect({ pfx, passphrase: 'sample' }, { ca }));
   console.log(await connect({ pfx: [{ buf: pfx, passphrase: 'sample' }] }, { ca }));
   console.log(fault(() => tls.createSecureContext({ pfx, passphrase: 'other' })));
   console.log(fault(() => tls.createSecureContext({ pfx: pfx.subarray(0, 99), passphrase: 'sample' })));
   console.log(fault(() => tls.createSecureContext({ pfx: Buffer.from('no store'), passphrase: 'sample' })));`,
  ['true Coldframe test authority', 'true Coldframe test authority', 'mac verify failure', 'not enough data', 'wrong tag'],
);

inside(
  'decrypts a key in PEM with its passphrase',
  `console.log(await connect({ key: encrypted, passphrase: 'sample', cert }, { ca }));
   console.log(fault(() => tls.createSecureContext({ key: encrypted, passphrase: 'other', cert })));
   console.log(fault(() => tls.createSecureContext({ key: encrypted, cert })));`,
  [
    'true Coldframe test authority',
    'ERR_OSSL_BAD_DECRYPT error:1C800064:Provider routines::bad decrypt',
    'ERR_OSSL_BAD_DECRYPT error:1C800064:Provider routines::bad decrypt',
  ],
);

inside(
  'uses the chosen signature schemes',
  `const shared = (socket) => socket.getSharedSigalgs().join();
   const server = { key, cert };
   console.log(await connect({ ...server, sigalgs: 'RSA-PSS+SHA256' }, { ca, sigalgs: 'RSA-PSS+SHA512:RSA-PSS+SHA256' }, shared));
   console.log(await connect({ ...server, sigalgs: 'RSA-PSS+SHA384' }, { ca, sigalgs: 'RSA-PSS+SHA512' }, shared));
   console.log(fault(() => tls.createSecureContext({ sigalgs: 'no-scheme' })).split(' ')[0]);`,
  [
    'true Coldframe test authority RSA-PSS+SHA256',
    'false  ERR_SSL_NO_SHARED_SIGNATURE_ALGORITHMS',
    'ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM',
  ],
);

inside(
  'sends the issuers of a certificate that are in ca',
  `console.log(await connect({ key, cert }, { rejectUnauthorized: false }));
   console.log(await connect({ key, cert, ca }, { rejectUnauthorized: false }));`,
  ['false', 'false Coldframe test authority'],
);

inside(
  'refuses clients without a certificate in the handshake',
  `const server = { key, cert, ca, requestCert: true };
   console.log(await connect(server, { ca }));
   const reason = (socket) => socket.authorizationError;
   console.log((await connect({ ...server, rejectUnauthorized: false }, { ca }, reason)).split(' ').at(-1));
   console.log((await connect(server, { ca, key, cert }, (socket) => 'accepted ' + socket.authorized)).split(' ').at(-1));
   console.log((await connect({}, { ca })).split(' ').at(-1));`,
  [
    'true Coldframe test authority ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE',
    'UNABLE_TO_GET_ISSUER_CERT',
    'true',
    'ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM',
  ],
);

inside(
  'refuses a key that is too weak for the level of security',
  `for (const ciphers of ['DEFAULT', 'DEFAULT@SECLEVEL=0', 'DEFAULT:@SECLEVEL=3', 'DEFAULT@SECLEVEL=9']) {
     console.log(fault(() => tls.createSecureContext({ key, cert, ciphers })) ?? 'accepted');
   }`,
  [
    'accepted',
    'accepted',
    'ERR_SSL_EE_KEY_TOO_SMALL error:0A00018F:SSL routines::ee key too small',
    'ERR_SSL_INVALID_COMMAND error:0A000118:SSL routines::invalid command',
  ],
);

inside(
  'does not use a version that secureOptions refuses',
  `import { constants } from 'node:crypto';
   const version = (socket) => socket.getProtocol();
   for (const secureOptions of [0, constants.SSL_OP_NO_TLSv1_3, constants.SSL_OP_NO_TLSv1_2]) {
     console.log((await connect({ key, cert, secureOptions }, { ca }, version)).split(' ').at(-1));
   }`,
  ['TLSv1.3', 'TLSv1.2', 'TLSv1.3'],
);

inside(
  'resumes sessions of servers with the same ticket keys',
  `import { randomBytes } from 'node:crypto';
   const ticketKeys = randomBytes(48);
   const listen = async (options) => {
     const server = tls.createServer({ key, cert, maxVersion: 'TLSv1.2', ...options }, (socket) => socket.resume().end());
     server.listen(0); await once(server, 'listening');
     return server;
   };
   const servers = await Promise.all([listen({ ticketKeys }), listen({ ticketKeys }), listen({}), listen({})]);
   console.log(servers[0].getTicketKeys().equals(ticketKeys), servers[2].getTicketKeys().equals(servers[3].getTicketKeys()));
   let session;
   const visit = async (server) => {
     const socket = tls.connect({ port: server.address().port, ca, servername: 'localhost', session });
     socket.on('session', (bytes) => { session ??= bytes; });
     await once(socket, 'secureConnect');
     const reused = socket.isSessionReused();
     socket.resume(); await once(socket, 'close');
     return reused;
   };
   console.log(await visit(servers[0]), await visit(servers[0]), await visit(servers[1]), await visit(servers[2]));
   servers[0].setTicketKeys(randomBytes(48));
   console.log(await visit(servers[0]), await visit(servers[1]));
   for (const server of servers) server.close();`,
  ['true false', 'false true true false', 'false true'],
);

inside(
  'refuses a hint of a pre-shared key that is too long',
  `const options = { key, cert, pskCallback() {}, pskIdentityHint: 'a'.repeat(512) };
   console.log(await connect(options, { ca }));`,
  ['false  ERR_TLS_PSK_SET_IDENTITY_HINT_FAILED'],
);
