// `coldframe doctor`: checks the machine and the installation, and starts a sandbox in each way.
// A failed check makes the exit code 1. Next: `doctor-checks.ts`.

import { CHECKS, type Finding } from './doctor-checks.js';
import { wrongOperands } from './parse.js';
import { paintFor, type Style } from './styles.js';
import type { Arguments } from './subcommand.js';

const SIGNS: Readonly<Record<Finding['state'], readonly [string, Style]>> = {
  ok: ['ok  ', 'green'],
  warning: ['warn', 'yellow'],
  failed: ['FAIL', 'red'],
};

export async function execute(args: Arguments): Promise<number> {
  if (args.operands.length > 0) wrongOperands(args);
  const findings: (Finding & { check: string })[] = [];
  const isJson = args.flags.has('json');
  const paint = paintFor(process.stdout);
  for (const [check, examine] of Object.entries(CHECKS)) {
    const finding = await examine().catch((error: Error): Finding => ({ state: 'failed', found: error.message }));
    findings.push({ check, ...finding });
    if (isJson) continue;
    const [sign, style] = SIGNS[finding.state];
    console.log(`${paint(style, sign)}  ${check}: ${finding.found}`);
    if (finding.remedy !== undefined) console.log(`      ${paint('dim', 'remedy:')} ${finding.remedy}`);
  }
  const isHealthy = findings.every(({ state }) => state !== 'failed');
  if (isJson) console.log(JSON.stringify({ ok: isHealthy, checks: findings }, null, 2));
  else
    console.log(
      isHealthy ? 'This machine can run sandboxes.' : 'This machine cannot run sandboxes until the failures are mended.',
    );
  return isHealthy ? 0 : 1;
}
