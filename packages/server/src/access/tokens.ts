// The tokens of sandboxes. A token has claims and their signature, so a server with the public key
// checks a token without a table. Clients treat a token as an opaque text.
//
// ```text
// cf1.<claims as JSON, base64url>.<Ed25519 signature of everything before, base64url>
// ```
//
// A token of an earlier version of the server is 32 random bytes in hex, which the record of its
// sandbox has.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { isSameToken } from '../envd/access.js';
import type { SandboxRecord } from '../registry/records.js';
import { openKeyFile } from './key-file.js';

/** The requests that a token opens: calls of programs and files, or requests to servers. */
export type TokenUse = 'agent' | 'traffic';

/** The content of a token. */
export interface Claims {
  use: TokenUse;
  sandbox: string;
  tenant: string;
  /** Tokens with a smaller number than the sandbox's `tokenEpoch` are revoked. */
  epoch: number;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The fields of a sandbox that decide about its tokens. */
export type TokenHolder = Pick<SandboxRecord, 'id' | 'tenant' | 'accessToken' | 'trafficToken' | 'tokenEpoch'>;

const VERSION = 'cf1';
const DAY_MS = 24 * 3_600_000;
/** Milliseconds for which a new token is valid. */
export const TOKEN_MS = 366 * DAY_MS;
/** Checked tokens that are kept, because checking a signature takes a tenth of a millisecond. */
const KEPT = 10_000;

/** Signs and checks tokens. */
export class Tokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #checked = new Map<string, Claims>();

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.#publicKey = createPublicKey(privateKey);
  }

  /** Returns the token with these claims. Equal claims have equal tokens. */
  issue({ use, sandbox, tenant, epoch, expiresAt }: Claims): string {
    const claims = Buffer.from(JSON.stringify([use, sandbox, tenant, epoch, expiresAt])).toString('base64url');
    const signed = `${VERSION}.${claims}`;
    return `${signed}.${sign(null, Buffer.from(signed), this.#privateKey).toString('base64url')}`;
  }

  /** Returns the tokens of a sandbox. A client can choose that requests to servers need a token. */
  issueAll(
    { id: sandbox, tenant, network }: Pick<SandboxRecord, 'id' | 'tenant' | 'network'>,
    epoch: number,
    expiresAt = Date.now() + TOKEN_MS,
  ): Pick<SandboxRecord, 'accessToken' | 'trafficToken'> {
    const issue = (use: TokenUse): string => this.issue({ use, sandbox, tenant, epoch, expiresAt });
    return { accessToken: issue('agent'), trafficToken: network.allowPublicTraffic === false ? issue('traffic') : undefined };
  }

  /** Returns the claims of a token, or `undefined` for a text that this server has not signed. */
  check(token: string): Claims | undefined {
    const known = this.#checked.get(token);
    if (known !== undefined) return known;
    const [version, encoded, signature, ...rest] = token.split('.');
    if (version !== VERSION || encoded === undefined || signature === undefined || rest.length > 0) return undefined;
    const isSigned = verify(null, Buffer.from(`${version}.${encoded}`), this.#publicKey, Buffer.from(signature, 'base64url'));
    if (!isSigned) return undefined;
    const [use, sandbox, tenant, epoch, expiresAt] = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    const claims: Claims = { use, sandbox, tenant, epoch, expiresAt };
    if (this.#checked.size >= KEPT) this.#checked.delete(this.#checked.keys().next().value as string);
    this.#checked.set(token, claims);
    return claims;
  }

  /** Returns whether a token opens requests of one use to a sandbox. */
  opens(token: string, use: TokenUse, { id, tenant, tokenEpoch = 0, ...record }: TokenHolder): boolean {
    const own = use === 'agent' ? record.accessToken : record.trafficToken;
    // A token of an earlier version has no claims.
    if (own !== undefined && !own.startsWith(`${VERSION}.`)) return isSameToken(token, own);
    const claims = this.check(token);
    return (
      claims !== undefined &&
      claims.use === use &&
      claims.sandbox === id &&
      claims.tenant === tenant &&
      claims.epoch >= tokenEpoch &&
      claims.expiresAt > Date.now()
    );
  }

  /** Returns whether a token should be replaced: invalid, or half of its time is over. */
  isOld(token: string): boolean {
    if (!token.startsWith(`${VERSION}.`)) return false;
    const claims = this.check(token);
    return claims === undefined || claims.expiresAt - Date.now() < TOKEN_MS / 2;
  }
}

/** Opens the tokens with the key in the file `path`, which is made if missing. */
export async function openTokens(path: string): Promise<Tokens> {
  const make = (): Buffer => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
  const key = await openKeyFile(path, make);
  return new Tokens(createPrivateKey({ key, type: 'pkcs8', format: 'der' }));
}
