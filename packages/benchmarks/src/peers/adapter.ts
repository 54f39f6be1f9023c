// The interface of a peer: something that a user would choose instead of Coldframe, or a mode of
// Coldframe.
//
// An adapter runs in a process of its own (`host-process.ts`), so that the memory of one peer is
// not the memory of another peer. All peers evaluate equal code.

/** A live sandbox, process or context. */
export interface Instance {
  /** Evaluates an expression. Resolves with its value as text. */
  evaluate(expression: string): Promise<string>;
  dispose(): Promise<void>;
}

export interface Adapter {
  /** Starts an instance. The clock of the cold start runs during the call. */
  start(): Promise<Instance>;
  close?(): Promise<void>;
}

/** The installed package of a peer, and a temporary folder. */
export interface AdapterFiles {
  /** The folder that contains `node_modules`. An empty text for a peer without a package. */
  installed: string;
  scratch: string;
}

export type OpenAdapter = (files: AdapterFiles) => Promise<Adapter>;
