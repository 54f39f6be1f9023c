// An agent that runs in a sandbox and calls the API of a model with a key that it cannot read.
//
//   node examples/agent-with-a-key/main.mjs
//
// The program of the agent, and the code that the model writes, run in the runtime. They have a
// placeholder. The edge process puts the key into requests to the API alone.

import { NodeRuntime } from 'coldframe';

/** The program of the agent. It runs what the model asks for, until the model answers. */
const AGENT = `
  const messages = [{ user: process.argv[2] }];
  for (let turns = 0; turns < 10; turns++) {
    const response = await fetch(process.env.MODEL_URL, {
      method: 'POST',
      headers: { authorization: 'Bearer ' + process.env.MODEL_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    });
    if (!response.ok) throw new Error('the API replied with ' + response.status + ': ' + await response.text());
    const { run, answer } = await response.json();
    if (answer !== undefined) {
      console.log(answer);
      break;
    }
    messages.push({ ran: run, result: String(eval(run)) });
  }
`;

/**
 * Asks the agent. `api` is the host and the port of the API. `addresses` has fixed addresses of
 * names, and `insecure` allows an API without TLS.
 *
 * @param {string} question
 * @typedef {Record<string, string>} Addresses
 * @param {{ api: string, key: string, addresses?: Addresses, insecure?: boolean }} options
 */
export async function ask(question, { api, key, addresses = {}, insecure = false }) {
  const [, port] = api.split(':');
  const runtime = await NodeRuntime.create({
    limits: { profile: 'hardened' },
    env: { MODEL_URL: `${insecure ? 'http' : 'https'}://${api}/v1/messages` },
    network: {
      // The agent reaches this path of this host, and nothing else.
      http: [{ host: api, methods: ['POST'], paths: ['/v1/messages'] }],
      private: Object.values(addresses).map((address) => `${address}:${port}`),
      dns: { hosts: addresses },
    },
    secrets: { MODEL_API_KEY: { value: key, hosts: [api], insecure } },
  });
  try {
    const { stdout, stderr } = await runtime.exec(AGENT, { args: [question] });
    return { answer: stdout.trim(), stderr };
  } finally {
    await runtime.dispose();
  }
}
