// Tests the tokens of sandboxes: what opens, and what does not.

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTokens, TOKEN_MS, type TokenHolder, type Tokens } from '../src/access/tokens.ts';

let folder: string;
let path: string;
let tokens: Tokens;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coldframe-tokens-'));
  path = join(folder, 'tokens.key');
  tokens = await openTokens(path);
});
afterEach(() => rm(folder, { recursive: true }));

const expiresAt = Date.now() + TOKEN_MS;
const issue = (change: object = {}): string =>
  tokens.issue({ use: 'agent', sandbox: 'a', tenant: 'one', epoch: 0, expiresAt, ...change });
const holder = (change: Partial<TokenHolder> = {}): TokenHolder => ({
  id: 'a',
  tenant: 'one',
  accessToken: issue(),
  trafficToken: issue({ use: 'traffic' }),
  ...change,
});

test('a token opens the sandbox, the tenant and the use of its claims only', () => {
  const opens = (token: string, change: Partial<TokenHolder> = {}) => tokens.opens(token, 'agent', holder(change));
  expect(opens(issue())).toBe(true);
  expect(opens(issue(), { id: 'b' })).toBe(false);
  expect(opens(issue(), { tenant: 'two' })).toBe(false);
  expect(tokens.opens(issue(), 'traffic', holder())).toBe(false);
  expect(tokens.opens(issue({ use: 'traffic' }), 'traffic', holder())).toBe(true);
  expect(opens(issue({ use: 'traffic' }))).toBe(false);
  expect(opens(issue({ expiresAt: Date.now() - 1 }))).toBe(false);
});

test('a token of an earlier epoch is revoked', () => {
  const record = holder({ tokenEpoch: 2 });
  expect([1, 2, 3].map((epoch) => tokens.opens(issue({ epoch }), 'agent', record))).toEqual([false, true, true]);
});

test('a token with another signature or other claims opens nothing', async () => {
  const other = await openTokens(join(folder, 'other.key'));
  const own = issue();
  const [version, claims, signature] = own.split('.') as [string, string, string];
  const foreign = other.issue({ use: 'agent', sandbox: 'a', tenant: 'one', epoch: 0, expiresAt });
  const changed = Buffer.from(JSON.stringify(['agent', 'a', 'one', 9, expiresAt])).toString('base64url');
  const wrong = [
    foreign,
    `${version}.${changed}.${signature}`,
    `${version}.${claims}.`,
    `${version}.${claims}`,
    `${own}.x`,
    `cf2.${claims}.${signature}`,
    claims,
    '',
    'x'.repeat(100_000),
  ];
  for (const token of wrong)
    expect([token.slice(0, 40), tokens.opens(token, 'agent', holder())]).toEqual([token.slice(0, 40), false]);
});

test('tokens stay valid over a start, and equal claims have equal tokens', async () => {
  const before = issue();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const again = await openTokens(path);
  expect(again.opens(before, 'agent', holder())).toBe(true);
  expect(again.issue({ use: 'agent', sandbox: 'a', tenant: 'one', epoch: 0, expiresAt })).toBe(before);
});

test('a token without claims opens the sandbox of an earlier version', () => {
  const record = holder({ accessToken: 'ab'.repeat(32) });
  expect(tokens.opens('ab'.repeat(32), 'agent', record)).toBe(true);
  expect(tokens.opens('cd'.repeat(32), 'agent', record)).toBe(false);
  expect(tokens.isOld('ab'.repeat(32))).toBe(false);
});

test('a token is old when half of its time is over, or when its key was lost', async () => {
  const other = await openTokens(join(folder, 'other.key'));
  expect(tokens.isOld(issue())).toBe(false);
  expect(tokens.isOld(issue({ expiresAt: Date.now() + TOKEN_MS / 3 }))).toBe(true);
  expect(other.isOld(issue())).toBe(true);
});
