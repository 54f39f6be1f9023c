// The app of the bundlers' examples: runs a program, and requests a server in the sandbox.

import { NodeRuntime } from 'coldframe';

async function main() {
  const runtime = await NodeRuntime.create();
  try {
    const { stdout } = await runtime.exec('console.log(6 * 7)');
    console.log(stdout.trim());

    await runtime.spawn(`
      import { createServer } from 'node:http';
      createServer((request, response) => response.end('hello from ' + request.url)).listen(3000);`);
    await runtime.waitForListener({ port: 3000 });
    console.log((await runtime.fetch(3000, '/sandbox')).body);
  } finally {
    await runtime.dispose();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
