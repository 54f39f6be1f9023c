// Runs the agent against the API of this example.

import { randomUUID } from 'node:crypto';
import { ask } from './agent.mjs';
import { address, startApi } from './mock-api.mjs';

const key = `key-${randomUUID()}`;
const api = await startApi(key);
const name = 'models.example.com';
const { answer } = await ask('What is the sum of the squares of 3, 4 and 5?', {
  api: `${name}:${api.port}`,
  key,
  addresses: { [name]: address },
  insecure: true,
});
console.log(answer);
console.log('The model has asked for the key, and received:', api.seen.at(-1)[2].result);
console.log('Requests with a wrong key:', api.denied());
api.close();
