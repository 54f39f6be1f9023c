// The systems whose published figures are shown beside the figures of a run.
//
// The authors of other systems measured the published figures on other machines. Each system has a
// class of isolation, and the table shows the class beside the figure. A micro-VM and a WebAssembly
// sandbox protect against different attackers. Next: `lifecycle.ts`, `memory.ts`, `pool.ts`.

export type Isolation = 'micro-VM' | 'container' | 'process' | 'isolate' | 'wasm';

export interface PublishedSystem {
  system: string;
  isolation: Isolation;
}

/** A system and the machine on which its figures were measured. */
export interface PublishedRig extends PublishedSystem {
  rig: string;
}
