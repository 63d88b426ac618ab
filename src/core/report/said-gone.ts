import type { Append } from '../base/protocol/events-and-effects.js';
import { nodeRecordKey } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import { MEMBERSHIP_PARTITION, type NodeKey } from '../base/vocabulary.js';
import type { Member, Membership } from '../usage-map/membership.js';
import { FAREWELL_NODES } from './constants/constants.js';

/** A view of the cluster; the coordinator has it. */
interface Cluster {
  readonly nodeKey: NodeKey;
  readonly settings: Pick<CoordinatorSettings, 'partitions' | 'heartbeatMs' | 'stalenessMs'>;
  readonly membership: Membership;
}

/**
 * Writes FAREWELL on other partitions for nodes gone from the membership partition. Only a record of a partition ends a
 * node's part of its groups. The first of the alive nodes (by NodeKey) writes it at once, the next ones if it does not.
 * A node that still lives then writes NODE there again.
 *
 * The membership partition has to have the life that the other one has. Where it has an older one or none, its NODE
 * record is on its way, or was lost: then it is waited for.
 */
export class SaidGone {
  readonly #cluster: Cluster;
  /** By partition, local monotonic time of this node's FAREWELL for a node. */
  readonly #dueMs: Map<Member, number>[];
  /** Changes of members at the last look without gone nodes. */
  #settledAt = -1;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#dueMs = Array.from({ length: cluster.settings.partitions }, () => new Map());
  }

  due(nowMs: number): Append[] {
    const { membership, nodeKey } = this.#cluster;
    const rank = membership.indexOf(nodeKey);
    if (rank === -1 || this.#settledAt === membership.changes) return NOTHING;
    const appends: Append[] = [];
    let waiting = 0;
    for (let partition = MEMBERSHIP_PARTITION + 1; partition < this.#dueMs.length; partition++) {
      const before = this.#dueMs[partition]!;
      const dueMs = new Map<Member, number>();
      for (const member of membership.on(partition).members) {
        if (member.state === 'alive') continue;
        const atMs = before.get(member) ?? nowMs + this.#patienceMs(rank, member, partition);
        if (nowMs >= atMs) appends.push(farewellFor(member, partition));
        dueMs.set(member, nowMs >= atMs ? nowMs + this.#cluster.settings.heartbeatMs : atMs);
      }
      this.#dueMs[partition] = dueMs;
      waiting += dueMs.size;
    }
    this.#settledAt = waiting === 0 ? membership.changes : -1;
    return appends;
  }

  #patienceMs(rank: number, { state, incarnation, lives }: Member, partition: number): number {
    const { heartbeatMs, stalenessMs } = this.#cluster.settings;
    // A node that left has written its farewell on all partitions.
    const turn = Math.min(FAREWELL_NODES, rank + (state === 'left' ? 1 : 0));
    return turn * heartbeatMs + (incarnation >= lives[partition] ? 0 : stalenessMs);
  }
}

function farewellFor({ nodeKey, nodeId, lives }: Member, partition: number): Append {
  // As a first record this sequence outranks none that its process has written, should it still live.
  const author = { nodeKey, incarnation: lives[partition]!, sequence: 1 };
  return { partition, key: nodeRecordKey(nodeKey), record: { kind: 'farewell', author, nodeId } };
}

const NOTHING: Append[] = [];
