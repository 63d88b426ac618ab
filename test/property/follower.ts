import { LaneTable } from '../../src/core/account/lanes/lane-table.js';
import { ShareBook } from '../../src/core/account/share/share-book.js';
import { groupIdOf } from '../../src/core/base/ids.js';
import type { Notice, ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import { partitionOf } from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { DIMENSION_COUNT, DIRECTION_COUNT, type GroupId } from '../../src/core/base/vocabulary.js';
import { LogReader } from '../../src/core/log/reading/log-reader.js';
import { TargetBook } from '../../src/core/target/target-book.js';
import { Membership } from '../../src/core/usage-map/membership.js';
import { UsageMap } from '../../src/core/usage-map/usage-map.js';

export interface LaneShares {
  readonly lane: string;
  /** In order of NodeKey. */
  readonly nodes: readonly string[];
  /** [dimension][node] */
  readonly shares: readonly (readonly number[])[];
  readonly target: readonly number[];
}

/**
 * The part of a node that is a function of the log: what it has read, and the shares that follow from it. No clock, no
 * limiter.
 */
export class Follower {
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly targets: TargetBook;
  readonly notices: Notice[] = [];
  readonly #settings: CoordinatorSettings;
  readonly #shares: ShareBook;

  constructor(settings: CoordinatorSettings) {
    this.#settings = settings;
    this.membership = new Membership(settings.stalenessMs, settings.partitions);
    this.usageMap = new UsageMap(() => undefined, settings);
    const table = new LaneTable(settings);
    const groupOf = (groupId: GroupId) => table.groupOf(groupId);
    this.targets = new TargetBook(settings, this.usageMap, this.membership, () => undefined, groupOf);
    const told = { backends: this.targets.backends, ramps: this.targets.ramps, notices: this.notices };
    this.log = new LogReader(settings, this.membership, this.usageMap, told);
    const lanes = settings.groups.length * DIRECTION_COUNT;
    this.#shares = new ShareBook(settings, lanes, this.log, this.targets);
  }

  read(event: ReadEvent): void {
    this.log.apply(event, 0);
  }

  /** Shares of all alive nodes for every configured lane. */
  shares(): LaneShares[] {
    return this.#settings.groups.flatMap(({ name }, group) =>
      Array.from({ length: DIRECTION_COUNT }, (_, direction) => this.#lane(group, name, direction)),
    );
  }

  #lane(group: number, name: string, direction: number): LaneShares {
    const groupId = groupIdOf(this.#settings.cluster, name);
    const mapLane = this.usageMap.findMapLane(groupId, direction);
    const partition = partitionOf(groupId, this.#settings.partitions);
    const round = this.#shares.converge(group, { direction, mapLane, partition });
    const column = (dimension: number) => Array.from(round.share[dimension].subarray(0, round.count));
    return {
      lane: `${name}/${direction}`,
      nodes: this.membership.on(partition).members.map(({ nodeId }) => nodeId),
      shares: Array.from({ length: DIMENSION_COUNT }, (_, dimension) => column(dimension)),
      target: Array.from(round.target),
    };
  }
}
