// A host machine whose system has no authorities. The app runs in a mount namespace with an empty
// `/etc/ssl`, so its sidecar and its edge process see no authorities of the system.

import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { HOST_ADDRESS } from './outside-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

const HOST = HOST_ADDRESS ?? '';
const NAME = 'secure.example.com';
const SDK = new URL('../../dist/index.js', import.meta.url).href;
const HIDE = `for folder in /etc/ssl /etc/pki; do [ ! -d $folder ] || mount -t tmpfs none $folder; done; exec "$@"`;
const hidden = ['-r', '-m', 'sh', '-ec', HIDE, 'sh'];
const canHide = spawnSync('unshare', [...hidden, 'true']).status === 0;

/** Runs an app on a machine without authorities. Returns its output. */
async function runApp(source: string, env: Readonly<Record<string, string>>): Promise<string> {
  const args = [...hidden, process.execPath, '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)('unshare', args, { env: { ...process.env, ...env } });
  return stdout.trim();
}

test.skipIf(HOST_ADDRESS === undefined || !canHide)(
  'a program trusts the authorities of the app if the system has none',
  async () => {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end('secure'));
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const network = { allow: [`${NAME}:${port}`], private: [`${HOST}:${port}`], dns: { hosts: { [NAME]: HOST } } };
    const program = `
      import tls from 'node:tls';
      const response = await fetch('https://${NAME}:${port}/').catch(({ cause }) => ({ text: () => cause.code }));
      console.log(await response.text(), tls.rootCertificates.length > 100);`;
    const app = `
      import { NodeRuntime, Sidecar } from ${JSON.stringify(SDK)};
      const sidecar = await Sidecar.spawn();
      const network = ${JSON.stringify(network)};
      const created = await NodeRuntime.create({ sidecar, network });
      const updated = await NodeRuntime.create({ sidecar });
      await updated.network.update(network);
      for (const runtime of [created, updated]) console.log((await runtime.exec(${JSON.stringify(program)})).stdout.trim());
      await sidecar.dispose();`;
    const folder = mkdtempSync(join(tmpdir(), 'coldframe-roots-'));
    try {
      const file = join(folder, 'authority.pem');
      writeFileSync(file, AUTHORITY);
      expect(await runApp(app, { NODE_EXTRA_CA_CERTS: file })).toBe('secure true\nsecure true');
      expect(await runApp(app, { NODE_EXTRA_CA_CERTS: '' })).toBe(
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE true\nUNABLE_TO_VERIFY_LEAF_SIGNATURE true',
      );
      writeFileSync(file, '#'.repeat(1_000_000));
      const refused = `
        import { NodeRuntime } from ${JSON.stringify(SDK)};
        await NodeRuntime.create({ network: {} }).catch(({ code, message }) => console.log(code, message.includes('roots')));`;
      expect(await runApp(refused, { NODE_EXTRA_CA_CERTS: file })).toBe('ERR_INVALID_REQUEST true');
    } finally {
      rmSync(folder, { recursive: true });
      server.closeAllConnections();
      server.close();
    }
  },
);
