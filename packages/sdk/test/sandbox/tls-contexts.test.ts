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
