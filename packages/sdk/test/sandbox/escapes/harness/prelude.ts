// Defines the code that runs before every hostile program: names for modules, and functions that
// catch errors.

export const PRELUDE = `
import fs from 'node:fs';
import { createRequire } from 'node:module';
const require = createRequire('/workspace/program.js');
const nameOf = (error) => String(error?.code ?? error?.name ?? error);
const tried = (work) => {
  try { const value = work(); return value === undefined ? 'done' : String(value); } catch (error) { return nameOf(error); }
};
const later = async (work) => {
  try { const value = await work(); return value === undefined ? 'done' : String(value); } catch (error) { return nameOf(error); }
};
const event = (emitter, ...names) => new Promise((resolve) => {
  for (const name of names) emitter.once(name, (value) => resolve(value instanceof Error ? nameOf(value) : name));
});
const say = (...values) => console.log(values.join(' '));
const distinct = (values) => [...new Set(values)].sort().join(' ');
`.trim();
