// Makes a text with the results of each group, and the group's failing files with their reasons,
// for work on a group.

import { groupOf } from './groups.mjs';
import { groupTable } from './report.mjs';

export function summary(report, about) {
  const parts = [`# Node's tests, ${about}`, '', groupTable(report), ''];
  const startingProcesses = new Set(report.startProcesses);
  const failing = Object.entries(report.files).filter(([, { result, ceiling }]) => ceiling === 'pass' && result !== 'pass');
  for (const group of new Set(failing.map(([name]) => groupOf(name)))) {
    const files = failing.filter(([name]) => groupOf(name) === group);
    parts.push(`## ${group} (${files.length})`, '');
    for (const [name, { result, reason, ms }] of files) {
      parts.push(`- ${name} (${result}, ${ms} ms${startingProcesses.has(name) ? ', starts processes' : ''}): ${reason}`);
    }
    parts.push('');
  }
  return parts.join('\n');
}
