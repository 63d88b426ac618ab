import { NODES } from './schedule.js';

/** A group of the run: its quota, what its nodes are asked for, and what happens while the topic is away. */
export interface ChaosGroup {
  readonly name: string;
  /** True = nothing is over at any moment, and there are no shares. */
  readonly isStrict: boolean;
  readonly strategy: 'max-min' | 'equal';
  /** Messages per second. */
  readonly quota: number;
  /** Messages asked for per second, by node; together more than the quota. */
  readonly demand: readonly number[];
  readonly isolation: { readonly policy: 'equal-share' | 'closed'; readonly holdMs: number };
}

/** Demands as parts of the quota: one node wants all of it, some want more than a fifth, and two want less. */
const PARTS = [1, 0.6, 0.3, 0.12, 0.05];

/**
 * 510/s in all of 1,057/s that are asked for: the machine has three brokers and five nodes to carry beside it.
 */
export const GROUPS: readonly ChaosGroup[] = [
  {
    name: 'wide',
    isStrict: false,
    strategy: 'max-min',
    quota: 200,
    demand: skewed(200, 0),
    isolation: { policy: 'equal-share', holdMs: 10_000 },
  },
  {
    name: 'even',
    isStrict: false,
    strategy: 'equal',
    quota: 100,
    demand: Array.from({ length: NODES }, () => 40),
    isolation: { policy: 'equal-share', holdMs: 10_000 },
  },
  {
    name: 'closed',
    isStrict: false,
    strategy: 'max-min',
    quota: 100,
    demand: skewed(100, 2),
    isolation: { policy: 'closed', holdMs: 0 },
  },
  {
    name: 'small',
    isStrict: false,
    strategy: 'max-min',
    quota: 10,
    demand: skewed(10, 4),
    isolation: { policy: 'equal-share', holdMs: 10_000 },
  },
  {
    name: 'strict',
    isStrict: true,
    strategy: 'max-min',
    quota: 100,
    demand: skewed(100, 1),
    isolation: { policy: 'closed', holdMs: 0 },
  },
];

/** Messages of a strict group's bucket: as many as come in a second. */
export function strictDepthOf({ quota }: ChaosGroup): number {
  return quota;
}

/** In every group another node asks for most. */
function skewed(quota: number, turn: number): number[] {
  return Array.from({ length: NODES }, (_, node) => quota * PARTS[(node + turn) % NODES]);
}

export function nodeName(node: number): string {
  return `n${node + 1}`;
}

/** node.yaml of one node; JSON is YAML. */
export function nodeConfig(topic: Readonly<Record<string, unknown>>, decisionsFile: string): string {
  const groups = GROUPS.map((group) => {
    const { name, isStrict, strategy, isolation } = group;
    const quota = { publish: { messagesPerSecond: group.quota } };
    const relaxed = { strategy, quota, isolation };
    return [name, isStrict ? { promise: 'strict', quota, burst: strictDepthOf(group) } : relaxed] as const;
  });
  const config = { cluster: 'chaos', topic, log: { decisionsFile }, groups: Object.fromEntries(groups) };
  return `${JSON.stringify(config, null, 2)}\n`;
}
