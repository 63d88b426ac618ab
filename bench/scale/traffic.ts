import type { AppendRecord } from '../../src/base/ports/report-topic.js';
import { createLaneState, type LaneState } from '../../src/core/account/lanes/lane-state.js';
import { LaneTable } from '../../src/core/account/lanes/lane-table.js';
import { LinkWatch } from '../../src/core/account/lanes/link-watch.js';
import { ShareBook } from '../../src/core/account/share/share-book.js';
import { TokenBook } from '../../src/core/account/share/token-book.js';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../src/core/base/ids.js';
import type { Append } from '../../src/core/base/protocol/events-and-effects.js';
import { partitionOf } from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings, GroupSettings } from '../../src/core/base/settings.js';
import { copyUnits, DIRECTION_COUNT, laneOf, noUnits } from '../../src/core/base/vocabulary.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { LogReader } from '../../src/core/log/reading/log-reader.js';
import { HiddenCeilings } from '../../src/core/report/hidden-ceilings.js';
import { Publisher } from '../../src/core/report/publisher.js';
import { ReportBook } from '../../src/core/report/report-book.js';
import { Reporter } from '../../src/core/report/reporter.js';
import { createLaneRates } from '../../src/core/report/sample/estimate.js';
import { CostMeter } from '../../src/core/target/cost-meter.js';
import { TargetBook } from '../../src/core/target/target-book.js';
import { Membership } from '../../src/core/usage-map/membership.js';
import { UsageMap } from '../../src/core/usage-map/usage-map.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import { TrafficRandom } from './random.js';

/** PIP-82's own scenario. */
export interface Scale {
  readonly nodes: number;
  readonly groupsPerNode: number;
  readonly nodesPerGroup: number;
  /** Reports for a significant change, per group of a node and minute. */
  readonly changesPerMinute: number;
  readonly seconds: number;
}

/** One produce of one node: what falls due in the same round goes together. */
export interface Produce {
  readonly atMs: number;
  readonly records: readonly AppendRecord[];
}

export interface Traffic {
  /** The newest record of every key, as compaction leaves it. */
  readonly history: readonly AppendRecord[];
  readonly produces: readonly Produce[];
}

const ROUND_MS = 20;
/** Long enough for every bundle to have been published once, and for the times of the next to be spread evenly. */
const PAST_MS = 300_000;
const PAST_ROUND_MS = 1000;

/** The groups that a node serves: every group is on `nodesPerGroup` nodes, every node has as many groups. */
export function groupsOf(node: number, scale: Scale): string[] {
  const { nodes, groupsPerNode, nodesPerGroup } = scale;
  return Array.from({ length: groupsPerNode }, (_, at) => {
    // Sets of `nodes` groups, shifted against each other: group (n − k·stride) mod nodes of a set is on node n.
    const set = Math.floor(at / nodesPerGroup);
    const stride = 1 + (set % (Math.floor(nodes / nodesPerGroup) - 1));
    const shift = (at % nodesPerGroup) * stride;
    return `group-${set * nodes + ((node - shift + nodes * nodesPerGroup) % nodes)}`;
  });
}

/** The records of all nodes, written by the parts of the core that write them in production, in virtual time. */
export function trafficOf(scale: Scale, settings: CoordinatorSettings, group: GroupSettings): Traffic {
  const codec = new RecordCodec(settings.cluster);
  const newest = new Map<string, Append>();
  const produces: Produce[] = [];
  for (let node = 0; node < scale.nodes; node++) {
    const groups = groupsOf(node, scale).map((name) => ({ ...group, name }));
    const writer = new WritingNode({ ...settings, nodeId: `node-${node}`, groups }, new TrafficRandom(node + 1));
    for (let nowMs = -PAST_MS; nowMs < 0; nowMs += PAST_ROUND_MS) {
      for (const append of writer.round(nowMs, PAST_ROUND_MS, scale.changesPerMinute, (nowMs + PAST_MS) / PAST_MS)) {
        newest.delete(append.key);
        newest.set(append.key, append);
      }
    }
    // Nodes started at different times: their heartbeats do not fall together.
    const phaseMs = (node * 617) % ROUND_MS;
    for (let nowMs = phaseMs; nowMs < scale.seconds * 1000; nowMs += ROUND_MS) {
      const appends = writer.round(nowMs, ROUND_MS, scale.changesPerMinute, 1);
      if (appends.length > 0) produces.push({ atMs: nowMs, records: appends.map((each) => encoded(each, codec)) });
    }
  }
  const history = [...newest.values()].map((each) => encoded(each, codec));
  return { history, produces: produces.sort((one, other) => one.atMs - other.atMs) };
}

function encoded({ partition, key, record }: Append, codec: RecordCodec): AppendRecord {
  return { partition, key, value: record === null ? null : codec.encode(record) };
}

/** Book, reporter and publisher of one node; what it reports is told from outside instead of sampled. */
class WritingNode {
  readonly #settings: CoordinatorSettings;
  readonly #random: TrafficRandom;
  readonly #lanes = new Map<number, LaneState>();
  readonly #book: ReportBook;
  readonly #publisher: Publisher;
  readonly #link: LinkWatch;
  readonly #shares: ShareBook;
  readonly #appends: Append[] = [];
  #begun = 0;
  #model: LaneState | null = null;

  constructor(settings: CoordinatorSettings, random: TrafficRandom) {
    const nodeKey = nodeKeyOf(settings.cluster, settings.nodeId);
    const laneCount = settings.groups.length * DIRECTION_COUNT;
    const membership = new Membership(settings.stalenessMs, settings.partitions);
    this.#settings = settings;
    this.#random = random;
    this.#link = new LinkWatch(settings, []);
    const usageMap = new UsageMap(() => {}, settings);
    const targets = new TargetBook(
      settings,
      usageMap,
      membership,
      () => {},
      () => -1,
    );
    const { backends, ramps } = targets;
    const log = new LogReader(settings, membership, usageMap, { backends, ramps, notices: [] });
    this.#shares = new ShareBook(settings, laneCount, log, targets);
    this.#book = new ReportBook(nodeKey, settings, () => false);
    const table = new LaneTable(settings);
    const [limiter, costs] = [new Limiter(laneCount), new CostMeter(settings.costs)];
    const known = { nodeKey, membership, usageMap, log, shares: this.#shares, targets, costs, limiter, table };
    const tokens = new TokenBook({ ...known, life: { incarnation: 1 }, link: this.#link });
    const reporter = new Reporter(settings, { limiter, shares: this.#shares, book: this.#book, costs, tokens });
    const parts = {
      nodeKey,
      membership,
      usageMap,
      ramps: targets.ramps,
      hiddenCeilings: new HiddenCeilings({ settings, nodeKey, ramps: targets.ramps, membership, usageMap }),
      log,
      shares: this.#shares,
      link: this.#link,
      epochs: log.epochs,
      book: this.#book,
      reporter,
      tokens,
      table,
      appends: this.#appends,
    };
    this.#publisher = new Publisher(settings, parts);
    this.#publisher.incarnation = incarnationOf(1, 1);
  }

  /** @param begun which part of the groups has been reported by the end of the round, 0 … 1 */
  round(nowMs: number, roundMs: number, changesPerMinute: number, begun: number): readonly Append[] {
    this.#appends.length = 0;
    const { groups } = this.#settings;
    const count = Math.ceil(begun * groups.length);
    while (this.#begun < count) this.#change(this.#begun++);
    const changes = this.#random.poisson((groups.length * changesPerMinute * roundMs) / 60_000);
    for (let at = 0; at < changes && this.#begun > 0; at++) this.#change(this.#random.below(this.#begun));
    this.#publisher.publishDue(this.#lanes, nowMs);
    this.#publisher.beat(nowMs, false);
    for (const { partition, record } of this.#appends) {
      if (record !== null) this.#link.echo.readBack(partition, record.author.sequence, nowMs);
    }
    return this.#appends;
  }

  /** The group's demand is another one from now on: its bundle is due. */
  #change(group: number): void {
    const lane = this.#laneOf(group);
    // From 1/s to 1,000/s in pieces of 100 bytes to 10 kB: floats without a pattern, as measured rates are.
    const messages = 10 ** (3 * this.#random.next());
    const bytes = messages * 10 ** (2 + 2 * this.#random.next());
    copyUnits([messages * 0.97, bytes * 0.97], lane.reported.usage);
    copyUnits([messages, bytes], lane.reported.demand);
    this.#shares.applied.set([messages * 1.1, bytes * 1.1], lane.lane * 2);
    this.#book.changed(group, lane.groupId, 'change');
  }

  #laneOf(group: number): LaneState {
    const lane = laneOf(group, 0);
    const known = this.#lanes.get(lane);
    if (known !== undefined) return known;
    const settings = this.#settings.groups[group];
    const groupId = groupIdOf(this.#settings.cluster, settings.name);
    const partition = partitionOf(groupId, this.#settings.partitions);
    const identity = { lane, group, settings, direction: 0, groupId, partition, mapLane: group, seat: 0 };
    // What is reported is told, so the 2 kB of samples of 500,000 lanes are not needed: they share one lane's.
    this.#model ??= createLaneState(identity, this.#settings, 0);
    const own = { reported: createLaneRates(), reportedShare: noUnits() };
    const state = { ...this.#model, ...identity, ...own };
    state.entry.life = 'written';
    this.#lanes.set(lane, state);
    return state;
  }
}
