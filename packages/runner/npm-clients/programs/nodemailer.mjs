// nodemailer: mails with attachments, a pool of connections, refused recipients and passwords.
import nodemailer from 'nodemailer';

const { HOST: host, PORT: port } = process.env;
const options = { host, port: Number(port), secure: false, ignoreTLS: true, auth: { user: 'user', pass: 'password' } };
const transport = nodemailer.createTransport({ ...options, pool: true, maxConnections: 2 });
console.log('verify', await transport.verify());
const sent = await transport.sendMail({
  from: 'Sender <from@example.com>',
  to: ['one@example.com', 'Zwei <two@example.com>'],
  subject: 'Grüße',
  text: 'plain text\n.\nafter a dot',
  html: '<b>☃</b>',
  messageId: '<fixed@example.com>',
  attachments: [{ filename: 'data.bin', content: Buffer.alloc(2_000_000, 'attachment') }],
});
console.log('sent', sent.accepted, sent.rejected, sent.response);
const many = await Promise.all(
  Array.from({ length: 20 }, (_, n) =>
    transport.sendMail({ from: 'from@example.com', to: `to${n}@example.com`, text: `mail ${n}` }),
  ),
);
console.log(
  'pool',
  many.length,
  many.every(({ accepted }, n) => accepted[0] === `to${n}@example.com`),
);
await transport
  .sendMail({ from: 'from@example.com', to: 'refused@example.com', text: '' })
  .catch(({ code, responseCode }) => console.log('refused', code, responseCode));
transport.close();
const wrong = nodemailer.createTransport({ ...options, auth: { user: 'user', pass: 'wrong' } });
await wrong.verify().catch(({ code }) => console.log('password', code));
