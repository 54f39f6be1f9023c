// Clients with keys that the sandbox does not have, over TLS: the programs have placeholders, and
// the edge process replaces them or signs. The runs in Node have the keys. Next: clients.mjs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formsOf, memoryHas } from '../../../../sdk/test/sandbox/memory-search.ts';
import { AUTHORITY, CERTIFICATE, KEY } from '../../../../sdk/test/sandbox/tls-certificates.ts';
import { CLIENT_MS, createRuntime, expectOutput, HOST, useSidecar } from './clients.mjs';
import { startHttpServer } from './http-server.mjs';
import { startS3Server } from './s3-server.mjs';
import { temporaryFolder } from './servers.mjs';

useSidecar();

const TLS = { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['http/1.1'] };
const NAME = 'secure.example.com';
const REGION = 'eu-central-1';
// s3rver knows the id S3RVER alone.
const AWS = {
  accessKeyId: 'S3RVER',
  secretAccessKey: 'wJalrXUtnFEMI-bPxRfiCYEXAMPLEKEY',
  sessionToken: 'token-of-the-session-4f1c',
};

// The options of a runtime that reaches the server by its name.
const optionsOf = (port, secrets) => ({
  network: {
    allow: [`${NAME}:${port}`],
    private: [`${HOST}:${port}`],
    dns: { hosts: { [NAME]: HOST } },
    ca: { extra: [AUTHORITY] },
    limits: { connectsPerSecond: 1_000 },
  },
  secrets,
});

// Makes what `expectOutput` needs. `values` must never be in the memory of the sidecar, which has
// the memory of the programs.
function description(server, { nodeEnv, options, values, names }) {
  const folder = temporaryFolder();
  const authority = join(folder.path, 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  const check = async (runtime, sidecar) => {
    const { stdout } = await runtime.exec(
      `console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name])))`,
    );
    for (const placeholder of JSON.parse(stdout)) expect(placeholder).toMatch(/^cfs_/);
    for (const value of values) expect(memoryHas(sidecar.pid, formsOf(value))).toBe(false);
    // The search finds a text that the programs had.
    expect(memoryHas(sidecar.pid, formsOf(JSON.parse(stdout)[0]))).toBe(true);
  };
  return {
    ports: [server.port],
    env: { SERVER: `https://${NAME}:${server.port}` },
    nodeEnv: { SERVER: `https://localhost:${server.port}`, NODE_EXTRA_CA_CERTS: authority, ...nodeEnv },
    options,
    check,
    close: () => server.close().finally(folder.remove),
  };
}

const startModels = (variable, value) => async () => {
  const server = await startHttpServer({ tls: TLS, apiKey: value });
  const options = optionsOf(server.port, { [variable]: { value, hosts: [`${NAME}:${server.port}`] } });
  return description(server, { nodeEnv: { [variable]: value }, options, values: [value], names: [variable] });
};

async function startS3() {
  const server = await startS3Server(TLS, { ...AWS, region: REGION });
  const signer = { sign: 'aws4', value: AWS, hosts: [`${NAME}:${server.port}`] };
  const options = optionsOf(server.port, { AWS_ACCESS_KEY_ID: signer });
  options.env = { AWS_REGION: REGION, AWS_SECRET_ACCESS_KEY: 'the edge process has the key' };
  const { accessKeyId, secretAccessKey, sessionToken } = AWS;
  const nodeEnv = {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  };
  return description(server, { nodeEnv, options, values: [secretAccessKey, sessionToken], names: ['AWS_ACCESS_KEY_ID'] });
}

describe.skipIf(HOST === undefined)('clients with secrets over TLS', () => {
  test('openai', () => expectOutput('openai', startModels('OPENAI_API_KEY', 'sk-of-the-host-c1f0a7')), CLIENT_MS);
  test('anthropic', () => expectOutput('anthropic', startModels('ANTHROPIC_API_KEY', 'sk-ant-of-the-host-7be2')), CLIENT_MS);
  test('@aws-sdk/client-s3', () => expectOutput('aws-s3-signed', startS3), CLIENT_MS);

  test('the server of S3 refuses a signature with another key', async () => {
    const server = await startS3Server(TLS, { ...AWS, region: REGION });
    const hosts = [`${NAME}:${server.port}`];
    const value = { ...AWS, secretAccessKey: 'another-secret-key' };
    const options = optionsOf(server.port, { AWS_ACCESS_KEY_ID: { sign: 'aws4', value, hosts } });
    options.env = { AWS_REGION: REGION, AWS_SECRET_ACCESS_KEY: 'unused', SERVER: `https://${NAME}:${server.port}` };
    const runtime = await createRuntime([server.port], options);
    try {
      const { stdout } = await runtime.exec(`
        import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
        const client = new S3Client({ endpoint: process.env.SERVER, forcePathStyle: true });
        await client.send(new ListObjectsV2Command({ Bucket: 'bucket' })).catch(({ name }) => console.log(name));
      `);
      expect({ stdout, faults: server.faults }).toEqual({ stdout: 'SignatureDoesNotMatch\n', faults: ['SignatureDoesNotMatch'] });
    } finally {
      await runtime.dispose();
      await server.close();
    }
  });
});
