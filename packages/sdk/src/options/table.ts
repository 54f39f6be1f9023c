// Tables of options: one row for each option, with its rule, the words after "expected", and its
// names in other libraries. A table is complete by its type: if an option of the TypeScript
// interface has no row, the table does not compile. Next: `check.ts`, the tables of all calls.

import { type Fault, faultBelow, isObject, type Rule } from './rule.js';

/** The row of one option. */
export interface Option extends Rule {
  /** Whether the option must be present. */
  readonly required?: true;
  /** Other names for the option. An error message about an alias contains the right name. */
  readonly aliases?: Aliases;
}

/** Other names for one option, and the words that follow the right name in a message. */
export interface Aliases {
  readonly names: readonly string[];
  readonly note: string;
}

/** A row for each option of an interface. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Option };

/** A table of any interface. */
export type AnyTable = Readonly<Record<string, Option>>;

/** Adds further names to an option. `note` follows the right name: `, in milliseconds`. */
export const known = (option: Option, names: readonly string[], note = ''): Option => ({ ...option, aliases: { names, note } });

/** Makes an option required. */
export const required = (option: Option): Option => ({ ...option, required: true });

/** Accepts an object with the options of `table`. Unknown names are faults. */
export function objectWith(
  table: AnyTable,
  expected = 'an object with options',
  together: (options: Readonly<Record<string, unknown>>) => Fault | undefined = () => undefined,
): Rule {
  // The table has no prototype, so that `constructor` is an unknown name.
  const options: AnyTable = Object.assign(Object.create(null), table);
  const needed = Object.entries(table).filter(([, option]) => option.required);
  return {
    expected,
    inner: { prefix: '.', options },
    fault(value) {
      if (!isObject(value)) return { path: [], expected, received: value };
      // Inherited names are checked too, because an instance of a class is no object with options.
      for (const name in value) {
        const option = options[name];
        if (option === undefined) return unknownName(options, name, value[name]);
        const given = value[name];
        if (given === undefined) continue;
        const fault = option.fault(given);
        if (fault !== undefined) return faultBelow(name, fault);
      }
      for (const [name, option] of needed) {
        if (value[name] === undefined) return { path: [name], expected: option.expected, received: undefined };
      }
      return together(value);
    },
  };
}

/** A fault whose name no option has. `options` are the possible options of the object. */
export interface UnknownName extends Fault {
  readonly options: AnyTable;
}

/** Returns whether a fault is an unknown name. */
export const isUnknownName = (fault: Fault): fault is UnknownName => 'options' in fault;

function unknownName(options: AnyTable, name: string, received: unknown): UnknownName {
  return { path: [name], expected: `one of ${Object.keys(options).join(', ')}`, received, options };
}
