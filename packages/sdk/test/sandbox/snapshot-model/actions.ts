// Defines the actions of the property test as plain data. fast-check makes sequences of actions and
// shortens a failing sequence.

import fc from 'fast-check';

/**
 * One action. `child`, `to` and `from` are indexes modulo the length of their list when the action
 * runs.
 */
export type Action =
  | { do: 'set'; name: string; value: string }
  | { do: 'write' | 'append'; name: string; text: string }
  | { do: 'remove'; name: string }
  | { do: 'child' }
  | { do: 'count'; child: number; n: number }
  | { do: 'timer'; ms: number }
  | { do: 'snapshot'; disk: boolean }
  | { do: 'rollback'; to: number }
  | { do: 'clone'; move: boolean }
  | { do: 'restore'; from: number }
  | { do: 'pause'; elsewhere: boolean }
  | { do: 'kill' | 'restart'; from: number }
  | { do: 'check' };

const name = fc.constantFrom('a', 'b', 'c');
const text = fc.string({ maxLength: 12 });
const index = fc.nat(20);

const of = <A extends Action>(record: { [K in keyof A]: fc.Arbitrary<A[K]> }): fc.Arbitrary<A> =>
  fc.record(record) as unknown as fc.Arbitrary<A>;

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: of({ do: fc.constant('set'), name, value: text }) as fc.Arbitrary<Action> },
  { weight: 3, arbitrary: of({ do: fc.constantFrom('write', 'append'), name, text }) as fc.Arbitrary<Action> },
  { weight: 1, arbitrary: of({ do: fc.constant('remove'), name }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('child') }) as fc.Arbitrary<Action> },
  { weight: 3, arbitrary: of({ do: fc.constant('count'), child: index, n: fc.nat(9) }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('timer'), ms: fc.nat(20) }) as fc.Arbitrary<Action> },
  { weight: 4, arbitrary: of({ do: fc.constant('snapshot'), disk: fc.boolean() }) as fc.Arbitrary<Action> },
  { weight: 3, arbitrary: of({ do: fc.constant('rollback'), to: index }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('clone'), move: fc.boolean() }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('restore'), from: index }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('pause'), elsewhere: fc.boolean() }) as fc.Arbitrary<Action> },
  { weight: 1, arbitrary: of({ do: fc.constantFrom('kill', 'restart'), from: index }) as fc.Arbitrary<Action> },
  { weight: 2, arbitrary: of({ do: fc.constant('check') }) as fc.Arbitrary<Action> },
);

/** An arbitrary sequence of actions. */
export const actions: fc.Arbitrary<Action[]> = fc.array(action, { minLength: 3, maxLength: 14, size: 'max' });
