// The program of a task. The program searches for files of earlier tasks, writes a file, and prints
// a token that only this task received. The output reveals a task that did not run, and a task that
// ran in a runtime with another task's files.

export interface Task {
  token: string;
  tenant: string;
}

let count = 0;

export const nextTask = (tenant: string): Task => ({ token: `t${++count}`, tenant });

/** Returns the ES module of a task. `folder` is a folder that the program may write to. */
export const programOf = ({ token, tenant }: Task, folder = '/workspace'): string => `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const file = ${JSON.stringify(`${folder}/marker`)};
const found = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing';
writeFileSync(file, ${JSON.stringify(tenant)});
console.log(${JSON.stringify(token)}, found);
`;

/**
 * Returns the problem of an output, or `undefined` for a right output. With `shared`, the program
 * may find the file of an earlier task of its own tenant.
 */
export function taskProblem({ token, tenant }: Task, output: string, shared: boolean): string | undefined {
  const [echoed, found] = output.trim().split(' ');
  if (echoed !== token) return `expected ${token}, got ${JSON.stringify(output.slice(0, 100))}`;
  if (found === 'nothing' || (shared && found === tenant)) return undefined;
  return found === tenant ? 'the task found a file of an earlier task' : 'the task found a file of another tenant';
}
