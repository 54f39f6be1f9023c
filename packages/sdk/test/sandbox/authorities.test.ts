// Programs trust the authorities of the host machine, and the authorities of `network.ca.extra`.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';
import { codeOf } from './network-helpers.js';
import { HOST_ADDRESS } from './outside-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

const HOST = HOST_ADDRESS ?? '';
const NAME = 'secure.example.com';

test.skipIf(HOST_ADDRESS === undefined)('a program trusts the authorities of the option, which can change', async () => {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end('secure'));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const network = { allow: [`${NAME}:${port}`], private: [`${HOST}:${port}`], dns: { hosts: { [NAME]: HOST } } };
  const get = `
    const response = await fetch('https://${NAME}:${port}/').catch(({ cause }) => ({ text: () => cause.code }));
    console.log(await response.text());`;
  try {
    await using runtime = await NodeRuntime.create({ network: { ...network, ca: { extra: [AUTHORITY] } } });
    const output = async (): Promise<string> => (await runtime.exec(get)).stdout.trim();
    expect(await output()).toBe('secure');
    await runtime.network.update({ ca: null });
    expect(await output()).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await runtime.network.update({ ca: { extra: [AUTHORITY] } });
    expect(await output()).toBe('secure');
    expect(await codeOf(runtime.network.update({ ca: { extra: ['no certificate'] } }))).toBe('ERR_INVALID_OPTION');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
