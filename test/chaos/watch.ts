import type { GroupStatus, NodeStatus } from '../../src/node/api/node-status.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { NODES } from './schedule.js';
import { GROUPS, nodeName } from './workload.js';

/** What one node said about itself at a moment. */
export interface Sample {
  readonly atMs: number;
  readonly node: number;
  /** Null: it did not answer in time, or is not ready. */
  readonly seen: SeenNode | null;
}

export interface SeenNode {
  readonly incarnation: number;
  /** Name of the log that it reads. */
  readonly epoch: string | null;
  readonly degraded: readonly string[];
  /** Nodes that it takes for alive, itself among them. */
  readonly alive: readonly number[];
  readonly groups: readonly SeenGroup[];
}

/** One group as a node has it, in the order of GROUPS. */
export interface SeenGroup {
  /** Its own share in force; 0 where it has none. */
  readonly share: number;
  /** What it computes for every node from the log; 0 for those that it does not know. */
  readonly shares: readonly number[];
}

const EVERY_MS = 250;
const ANSWER_MS = 1500;

/** Asks every node for its status, over and over; a node that does not answer delays nobody else. */
export class Watch {
  readonly samples: Sample[] = [];
  readonly #urls: readonly string[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #latest: (Sample | undefined)[] = [];
  #isOver = false;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  begin(): void {
    for (let node = 0; node < NODES; node++) void this.#look(node);
  }

  /** The last word of every node, where there is one. */
  latest(): readonly (Sample | undefined)[] {
    return this.#latest;
  }

  end(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #look(node: number): Promise<void> {
    const url = this.#urls[node];
    const seen = await seenAt(url).catch(() => null);
    if (this.#isOver) return;
    const sample = { atMs: epochNow(), node, seen };
    this.samples.push(sample);
    this.#latest[node] = sample;
    this.#timers[node] = setTimeout(() => void this.#look(node), EVERY_MS);
  }
}

async function seenAt(url: string): Promise<SeenNode | null> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(`${url}${path}`, { signal });
    return (await answer.json()) as Answer;
  };
  const [node, ...groups] = await Promise.all([
    ask<NodeStatus>('/v1/nodes'),
    ...GROUPS.map(({ name }) => ask<GroupStatus>(`/v1/groups/${name}`)),
  ]);
  if (!node.ready) return null;
  return {
    incarnation: node.incarnation,
    epoch: node.topic.epoch,
    degraded: node.degraded,
    alive: node.members.flatMap(({ nodeId, state }) => (state === 'alive' ? [indexOfNode(nodeId)] : [])),
    groups: groups.map((group) => seenGroup(group)),
  };
}

function seenGroup({ directions: { publish } }: GroupStatus): SeenGroup {
  const shares = Array.from({ length: NODES }, () => 0);
  for (const { nodeId, share } of publish.nodes) shares[indexOfNode(nodeId)] = share.messagesPerSecond ?? 0;
  return { share: publish.local.share.messagesPerSecond ?? 0, shares };
}

function indexOfNode(nodeId: string): number {
  return Array.from({ length: NODES }, (_, node) => nodeName(node)).indexOf(nodeId);
}
