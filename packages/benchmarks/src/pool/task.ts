// The work of a task: it looks for what others have left, leaves something itself, and answers with a word that only this task was given. So a task that was
// not done, or was done in somebody else's dirt, is not taken for one that was quick.

export interface Task {
  token: string;
  tenant: string;
}

let count = 0;

export const nextTask = (tenant: string): Task => ({ token: `t${++count}`, tenant });

/** An ES module; `folder` is where it may write. */
export const programOf = ({ token, tenant }: Task, folder = '/workspace'): string => `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const file = ${JSON.stringify(`${folder}/marker`)};
const found = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing';
writeFileSync(file, ${JSON.stringify(tenant)});
console.log(${JSON.stringify(token)}, found);
`;

/** What is wrong with an answer; nothing when it is right. `shared`: what a tenant's own tasks have left may be there. */
export function problemOf({ token, tenant }: Task, answer: string, shared: boolean): string | undefined {
  const [echoed, found] = answer.trim().split(' ');
  if (echoed !== token) return `expected ${token}, got ${JSON.stringify(answer.slice(0, 100))}`;
  if (found === 'nothing' || (shared && found === tenant)) return undefined;
  return found === tenant ? 'it found what an earlier task had left' : 'it found what another tenant had left';
}
