// jsonwebtoken: signing and verifying with secrets and keys.

import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';

const token = jwt.sign({ user: 'ada', iat: 1_700_000_000 }, 'secret', { algorithm: 'HS256', issuer: 'test' });
console.log(token, jwt.verify(token, 'secret', { issuer: 'test' }), jwt.decode(token, { complete: true }).header);
const attempt = (...args) => {
  try {
    return jwt.verify(...args);
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
console.log(attempt(token, 'other'), attempt(token.slice(1), 'secret'), attempt(jwt.sign({ exp: 1 }, 'secret'), 'secret'));
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signed = jwt.sign({ sub: 'x', iat: 1 }, privateKey, { algorithm: 'ES256' });
console.log(jwt.verify(signed, publicKey), signed.split('.').length);
