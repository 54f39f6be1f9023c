// How many tasks, slots, tenants and uses.

export interface PoolPlan {
  /** Uses of a slot until it is replaced or rolled back (K of B18). */
  uses: readonly number[];
  /** Slots of a pool. */
  slots: number;
  /** Tenants that take turns. */
  tenants: number;
  /** Tasks of each row. */
  tasks: number;
  /** Tasks of a row whose every task costs tens of milliseconds. */
  slowTasks: number;
  /** How many calls come at one moment (B19), and how often. */
  crowds: readonly number[];
  rounds: number;
  /** Checkouts for B23. */
  checkouts: number;
}

export const ORDINARY: PoolPlan = {
  uses: [1, 10, 100],
  slots: 8,
  tenants: 4,
  tasks: 2_000,
  slowTasks: 60,
  crowds: [1, 10, 50],
  rounds: 20,
  checkouts: 500,
};

export const QUICK: PoolPlan = { ...ORDINARY, slots: 4, tasks: 40, slowTasks: 4, crowds: [1, 4], rounds: 2, checkouts: 10 };
