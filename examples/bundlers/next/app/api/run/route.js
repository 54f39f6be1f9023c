// A route handler that runs a program in a sandbox: `GET /api/run`.

import { NodeRuntime } from 'coldframe';

export const dynamic = 'force-dynamic';

export async function GET() {
  const runtime = await NodeRuntime.create();
  try {
    const { exitCode, stdout } = await runtime.exec('console.log(6 * 7)');
    return Response.json({ exitCode, stdout });
  } finally {
    await runtime.dispose();
  }
}
