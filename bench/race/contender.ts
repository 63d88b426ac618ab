/**
 * What a limiter is to the race. A file that exports `contender` can take part: `npm run race -- --contender ./mine.mjs`.
 * README.md has a whole one.
 *
 * `start` runs once, in the process of the race. `join` runs in a process of its own for each node, as a limiter within a
 * service does, and may import what it needs there. Both are given the same limit.
 */
export interface Contender {
  readonly name: string;
  /** What it lets through at once, and how long it counts, in words: readers compare models with it. */
  burstOf(limit: Limit): string;
  /** Requests that an idle quota gives at once if so many nodes are asked; Infinity where nothing limits. */
  atOnce(limit: Limit, nodesAsked: number): number;
  start(limit: Limit): Promise<Servers>;
  join(node: number, limit: Limit, address: unknown): Promise<Limiter>;
}

export interface Limit {
  readonly key: string;
  readonly perSecond: number;
  /** Depth of a bucket, in requests, for models that have one. */
  readonly burst: number;
  readonly nodes: number;
}

/** What runs beside the nodes. */
export interface Servers {
  /** Handed to `join` in other processes: numbers, texts and lists of them. */
  readonly address: unknown;
  /** Processes whose CPU is the limiter's, those of the nodes excepted. */
  pids(): readonly number[];
  /** What all nodes need and may lose; null = there is no such thing. */
  readonly store: Store | null;
  stop(): Promise<void>;
}

export interface Store {
  /** As a crash does: nothing is said to anybody, nothing is kept. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface Limiter {
  /** True = admitted, false = refused; who cannot say throws or rejects, and the request is lost. */
  ask(key: string): boolean | Promise<boolean>;
  close(): Promise<void>;
}

/** What a contender has that needs nothing beside the nodes. */
export const NO_SERVERS: Servers = { address: null, pids: () => [], store: null, stop: async () => undefined };
