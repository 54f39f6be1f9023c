// @grpc/grpc-js: a server and a client without TLS: unary calls, streams, metadata and statuses.

import grpc from '@grpc/grpc-js';

const serialize = (value) => Buffer.from(JSON.stringify(value));
const deserialize = (bytes) => JSON.parse(bytes.toString());
const method = (name, requestStream, responseStream) => ({
  path: `/table.Numbers/${name}`,
  requestStream,
  responseStream,
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
});
const service = {
  greet: method('greet', false, false),
  count: method('count', false, true),
  sum: method('sum', true, false),
  double: method('double', true, true),
};
const server = new grpc.Server();
server.addService(service, {
  greet(call, done) {
    if (!call.request.name) return done({ code: grpc.status.INVALID_ARGUMENT, details: 'no name' });
    const trailers = new grpc.Metadata();
    trailers.set('length', `${call.request.name.length}`);
    done(null, { text: `hello ${call.request.name}`, key: call.metadata.get('key') }, trailers);
  },
  count(call) {
    for (let i = 1; i <= call.request.to; i++) call.write(i);
    call.end();
  },
  sum(call, done) {
    let sum = 0;
    call.on('data', (number) => {
      sum += number;
    });
    call.on('end', () => done(null, sum));
  },
  double(call) {
    call.on('data', (number) => call.write(number * 2));
    call.on('end', () => call.end());
  },
});
const port = await new Promise((resolve, reject) =>
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  ),
);
const Client = grpc.makeGenericClientConstructor(service, 'Numbers');
const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());

const metadata = new grpc.Metadata();
metadata.set('key', 'value');
await new Promise((resolve) => {
  const call = client.greet({ name: 'sandbox' }, metadata, (error, reply) => console.log(error, reply));
  call.on('status', (status) => resolve(console.log(status.code, status.metadata.get('length'))));
});
await new Promise((resolve) => client.greet({}, (error) => resolve(console.log(error.code, error.details))));
const numbers = [];
for await (const number of client.count({ to: 5 })) numbers.push(number);
console.log(numbers);
await new Promise((resolve) => {
  const call = client.sum((error, sum) => resolve(console.log(error, sum)));
  for (let i = 0; i < 100; i++) call.write(i);
  call.end();
});
const call = client.double();
for (let i = 0; i < 10; i++) call.write(i);
call.end();
const doubled = [];
for await (const number of call) doubled.push(number);
console.log(doubled);
const name = 'x'.repeat(500_000);
await new Promise((resolve) => client.greet({ name }, (error, reply) => resolve(console.log(error, reply.text.length))));
client.close();
await new Promise((resolve) => server.tryShutdown(resolve));
console.log('ended');
