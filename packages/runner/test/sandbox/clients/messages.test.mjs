// Clients of message brokers and of mail against servers of this machine. The broker NATS is a
// Debian package, which only the long form of the tests needs. Next: clients.mjs.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { load } from '../../../npm-clients/packages.mjs';
import { CLIENT_MS, expectOutput, HOST, useSidecar } from './clients.mjs';
import { behindRelay, commandPath, freePort, startProcess } from './servers.mjs';

useSidecar();

const IS_LONG = process.env.COLDFRAME_TESTS === 'long';

async function startMqtt() {
  const { Aedes } = load('aedes');
  const broker = await Aedes.createBroker();
  const server = createServer((socket) => broker.handle(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    await new Promise((resolve) => broker.close(resolve));
    server.close();
  };
  return behindRelay(server.address().port, close);
}

async function startNats() {
  const port = await freePort();
  const args = ['--addr', '127.0.0.1', '--port', `${port}`];
  return behindRelay(port, await startProcess(commandPath('nats-server', 'nats-server'), args, port));
}

// The parsed size and the recipients of each mail.
async function startMail(mails) {
  const { SMTPServer } = load('smtp-server');
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ password }, _session, done) => (password === 'password' ? done(null, { user: 'user' }) : done(new Error('wrong'))),
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('refused') ? new Error('no such user') : null),
    onData: async (stream, { envelope }, done) => {
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      mails.push({ text: Buffer.concat(chunks).toString(), to: envelope.rcptTo.map(({ address }) => address) });
      done(null, 'taken');
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return behindRelay(server.server.address().port, () => new Promise((resolve) => server.close(resolve)));
}

describe.skipIf(HOST === undefined)('messages', () => {
  test('mqtt', () => expectOutput('mqtt', startMqtt), CLIENT_MS);
  test.runIf(IS_LONG)('nats', () => expectOutput('nats', startNats), CLIENT_MS);
  test(
    'nodemailer',
    async () => {
      const runs = [];
      await expectOutput('nodemailer', () => {
        runs.push([]);
        return startMail(runs.at(-1));
      });
      expect(runs).toHaveLength(2);
      for (const mails of runs) {
        expect(mails).toHaveLength(21);
        expect(mails[0].to).toEqual(['one@example.com', 'two@example.com']);
        expect(mails[0].text).toContain('\r\n.\r\nafter a dot');
        expect(mails[0].text).toContain(Buffer.alloc(57, 'attachment').toString('base64'));
      }
    },
    CLIENT_MS,
  );
});
