// One micro-benchmark: something that is done `operations` times per sample and timed by itself, so that checks and preparation stay
// outside. tinybench decides how often it is called; the value of a sample is milliseconds per operation.

export interface MicroTask {
  name: string;
  what: string;
  /** Resolves to the milliseconds that all operations of one sample took; rejects when their result was wrong. */
  sample(): Promise<number> | number;
  operations: number;
}

export interface MicroGroup {
  tasks: MicroTask[];
  close(): Promise<void>;
}

export const oneOperation = (name: string, what: string, sample: () => Promise<number>): MicroTask => ({
  name,
  what,
  sample,
  operations: 1,
});
