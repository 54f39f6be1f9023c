// Clones of a runtime whose resident runner has imported large modules. The time ends when the
// runner of every clone has replied.

import { NodeRuntime, Sidecar } from 'coldframe';
import { now } from '../statistics/timer.js';

/** Modules that the image does not contain, or whose import takes long. */
const IMPORTS = 'import asyncio, decimal, doctest, email.mime.multipart, http.server, sqlite3, xmlrpc.client';

/** One result in the JSON, in milliseconds. */
export interface CloneResult {
  count: number;
  imports: string;
  /** The import in the parent. */
  importMs: number;
  /** The call of `clone()`. */
  cloneMs: number;
  /** From the call of `clone()` to the last reply. */
  answeredMs: number;
  right: number;
}

export async function measureClones(count: number): Promise<CloneResult> {
  const sidecar = await Sidecar.spawn();
  try {
    const parent = await NodeRuntime.create({ sidecar });
    const runner = await parent.createResidentRunner({ language: 'python' });
    const begun = now();
    await runner.exec(IMPORTS, { throwOnError: true });
    const importMs = now() - begun;
    const from = now();
    const clones = await parent.clone(count);
    const cloneMs = now() - from;
    const answers = await Promise.all(
      clones.map(async (clone, index) => {
        const [copy] = await clone.residentRunners();
        const result = await copy?.exec(
          `print(decimal.Decimal(${index}) + 1, sqlite3.connect(":memory:").execute("SELECT 1").fetchone())`,
        );
        return result?.stdout === `${index + 1} (1,)\n`;
      }),
    );
    const answeredMs = now() - from;
    return { count, imports: IMPORTS, importMs, cloneMs, answeredMs, right: answers.filter(Boolean).length };
  } finally {
    await sidecar.dispose();
  }
}
