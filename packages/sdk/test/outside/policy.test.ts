// Tests the conversions of the options of outside connections, and the checks of their values.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkArgument, checkOptions } from '../../src/options/check.js';
import { CHECKED_URL, NETWORK_CHANGE, type NetworkChange, type NetworkOptions } from '../../src/options/outside.js';
import { afterChange, inForce, wireOutside, wireUpdate } from '../../src/outside/policy.js';
import { policyInForce } from '../../src/permissions/policy.js';
import type { RuntimeId } from '../../src/protocol/generated/messages.js';
import { repetitions } from '../repetitions.js';

const RUNTIME = 1 as RuntimeId;

const OPTIONS: NetworkOptions = {
  outside: 'public',
  allow: ['a.example', '*.example.com:443'],
  deny: ['b.example'],
  private: ['10.0.0.1:80'],
  dns: {
    servers: ['10.0.0.2', '10.0.0.2:5353', 'fd00::1', '[fd00::1]:53'],
    hosts: { 'a.test': '10.0.0.1', 'b.test': ['fd00::1'] },
  },
  localAddress: '198.51.100.9',
  proxy: 'http://user:password@proxy.example:3128',
  limits: { connections: 1, bytes: 10 },
};

describe('checks', () => {
  const create = (network: unknown) => () => checkOptions('NodeRuntime.create()', { network });
  const change = (value: unknown) => () => checkArgument('network.update()', 'change', NETWORK_CHANGE, value);

  test('accept every field', () => {
    for (const network of [{}, OPTIONS, { dns: {} }, { limits: {} }]) {
      expect(create(network)).not.toThrow();
      expect(change(network)).not.toThrow();
    }
    expect(change({ allow: null, dns: null, limits: { bytes: null }, outside: null })).not.toThrow();
  });

  test.each([
    [{ alow: [] }, /`network\.alow`.*It is called `allow`/],
    [{ allowlist: [] }, /It is called `allow`/],
    [{ allow: 'a.example' }, /`network\.allow`.*expected a list of hosts/],
    [{ allow: ['a', ''] }, /`network\.allow\.1`/],
    [{ allow: Array.from({ length: 4_097 }, () => 'a') }, /at most 4096 entries, received an array of 4097/],
    [{ outside: 'all' }, /expected 'deny' or 'public'/],
    [{ allow: null }, /`network\.allow`/],
    [{ dns: { servers: ['dns.example'] } }, /`network\.dns\.servers\.0`/],
    [{ dns: { servers: ['10.0.0.2:0'] } }, /`network\.dns\.servers\.0`/],
    [{ dns: { servers: ['fd00::1:x'] } }, /`network\.dns\.servers\.0`/],
    [{ dns: { hosts: { 'a.test': 'b.test' } } }, /`network\.dns\.hosts\.a\.test`.*an IPv4 or IPv6 address/],
    [{ dns: { hosts: { 'a.test': ['10.0.0.1', 7] } } }, /`network\.dns\.hosts\.a\.test\.1`/],
    [{ dns: { hosts: new Map() } }, /`network\.dns\.hosts`/],
    [{ localAddress: 'a.example' }, /`network\.localAddress`.*an IPv4 or IPv6 address/],
    [{ proxy: 'https://proxy.example:3128' }, /`network\.proxy`/],
    [{ proxy: 'http://user:password@proxy.example' }, /`network\.proxy`.*received "another text"/],
    [{ limits: { connections: 0 } }, /`network\.limits\.connections`/],
    [{ limits: { bytesPerSecond: 0 } }, /`network\.limits\.bytesPerSecond`/],
  ])('refuse %j', (network, message) => {
    expect(create(network)).toThrow(message);
  });

  test('a change must be an object, and a URL must be text or a URL', () => {
    expect(change(undefined)).toThrow(/`change`/);
    expect(change({ existing: 'keep' })).toThrow(/`existing`/);
    for (const url of ['', 7, null, 'x'.repeat(8_193)]) {
      expect(() => checkArgument('network.check()', 'url', CHECKED_URL, url)).toThrow(/`url`/);
    }
  });
});

test('options become a message', () => {
  expect(wireOutside(OPTIONS)).toEqual({
    outside: 'public',
    allow: OPTIONS.allow,
    deny: OPTIONS.deny,
    private: OPTIONS.private,
    dnsServers: OPTIONS.dns?.servers,
    dnsHosts: [
      { name: 'a.test', addresses: ['10.0.0.1'] },
      { name: 'b.test', addresses: ['fd00::1'] },
    ],
    localAddress: OPTIONS.localAddress,
    proxy: OPTIONS.proxy,
    limits: { connections: 1, bytes: 10 },
  });
  expect(wireOutside({})).toEqual({});
});

test('a change becomes a message with the cleared fields', () => {
  const change: NetworkChange = {
    allow: null,
    deny: ['c.example'],
    dns: { servers: null },
    localAddress: '198.51.100.8',
    proxy: null,
    limits: { bytes: null, connections: 2 },
  };
  expect(wireUpdate(RUNTIME, change, { existing: 'keep' })).toEqual({
    runtime: RUNTIME,
    change: { deny: ['c.example'], localAddress: '198.51.100.8', limits: { connections: 2 } },
    clear: ['allow', 'proxy', 'dnsServers', 'limits.bytes'],
    existing: 'keep',
  });
  expect(wireUpdate(RUNTIME, { dns: null, limits: null }, {}).clear).toEqual(['dnsServers', 'dnsHosts', 'limits']);
  expect(wireUpdate(RUNTIME, {}, {})).toEqual({ runtime: RUNTIME, change: {}, clear: undefined, existing: undefined });
});

test('a change leaves, clears and replaces fields', () => {
  const after = afterChange(OPTIONS, {
    outside: null,
    localAddress: null,
    proxy: null,
    allow: ['c.example'],
    dns: { hosts: null },
    limits: { bytes: null },
  });
  expect(after).toEqual({
    allow: ['c.example'],
    deny: OPTIONS.deny,
    private: OPTIONS.private,
    dns: { servers: OPTIONS.dns?.servers },
    limits: { connections: 1 },
  });
  expect(Object.isFrozen(after) && Object.isFrozen(after.allow) && Object.isFrozen(after.dns)).toBe(true);
  const { dns: _, limits: __, ...others } = OPTIONS;
  expect(afterChange(OPTIONS, { dns: null, limits: null, allow: undefined })).toEqual(inForce(others));
  expect(OPTIONS.outside).toBe('public');
});

test('a change that replaces every field leads to its own fields', () => {
  const texts = fc.array(fc.constantFrom('a.example', 'b.example:80', '10.0.0.0/8'), { maxLength: 3 });
  const options = fc.record(
    { outside: fc.constantFrom('deny' as const, 'public' as const), allow: texts, deny: texts, private: texts },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(options, options, (before, change) => {
      expect(afterChange(inForce(before), change)).toEqual(inForce({ ...before, ...change }));
    }),
    { numRuns: repetitions(100, 10_000) },
  );
});

test('the scope network is derived from the option only if the policy omits the scope', () => {
  expect(policyInForce({}, true).network).toMatchObject({
    default: 'deny',
    rules: [{}, { operations: ['connect', 'dns', 'udp'] }],
  });
  expect(policyInForce({ network: 'deny' }, true).network).toBe('deny');
  expect(policyInForce({}).network).toMatchObject({ rules: [{ patterns: ['localhost', 'unix:*'] }] });
});
