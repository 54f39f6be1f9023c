// A server in a process of its own, which a test can kill. Prints its port.

import { createServer } from '../../dist/index.js';

const [directory, key] = process.argv.slice(2);
const server = await createServer({ directory, apiKeys: [{ key, tenant: 'one' }] });
const { port } = await server.listen(0);
process.stdout.write(`${port}\n`);
