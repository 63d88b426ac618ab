import { laneOf, lanesOf } from '../../core/base/vocabulary.js';
import { keyEntry } from '../../core/beside/registry/registry-record.js';
import type { GroupList, GroupLive, HistoryStatus, NodeLive } from '../api/live-status.js';
import { describeGroup, describeNode } from '../status/describe-node.js';
import { LaneSummary } from '../status/lane-summary.js';
import type { StatusParts } from '../status/status-parts.js';
import { GroupHeat } from './group-heat.js';
import { countUnnamed, rowOf } from './lane-sums.js';
import { LiveHistory, topicLagMs } from './live-history.js';

/** View of one reader. */
export interface LiveView {
  readonly order: 'heat' | 'name';
  /** Part of a group's name; '' = all. */
  readonly find: string;
  /** First line of the list, and number of lines; 0 = none. */
  readonly from: number;
  readonly count: number;
  /** Number of the group in detail; null = none. */
  readonly group: number | null;
}

/** Piece of the stream, made once for all readers of one view. */
export interface Frame {
  readonly event: FrameEvent;
  readonly json: string;
  readonly bytes: Buffer;
  /** Tick of its last change. */
  readonly changedAtTick: number;
}

type FrameEvent = 'node' | 'groups' | 'group';

/** Makes the page's frames once a second. Without readers it only keeps the last 15 minutes. */
export class LiveFeed {
  readonly #parts: StatusParts;
  readonly #heat: GroupHeat;
  readonly #history: LiveHistory;
  readonly #frames = new Map<string, Frame & { madeAtTick: number }>();
  #tick = 0;
  #unnamedCount = 0;
  #unnamedAtTick = -Infinity;

  constructor(parts: StatusParts) {
    this.#parts = parts;
    this.#heat = new GroupHeat(parts);
    this.#history = new LiveHistory(parts, this.#heat);
  }

  get ticks(): number {
    return this.#tick;
  }

  /** Takes a second, before frames. @param views what readers look at */
  tick(views: Iterable<LiveView>): void {
    const lanes = new Set<number>();
    for (const { group } of views) {
      if (group === null) continue;
      for (const lane of lanesOf(group)) lanes.add(lane);
    }
    for (const [key, { madeAtTick }] of this.#frames) if (madeAtTick < this.#tick) this.#frames.delete(key);
    this.#tick++;
    this.#heat.tick();
    this.#history.tick(lanes);
  }

  framesOf(view: LiveView): Frame[] {
    const { order, find, from, count, group } = view;
    const frames = [this.#frame('node', 'node', () => this.#node())];
    if (count > 0) {
      frames.push(this.#frame('groups', `groups ${order} ${from} ${count} ${find}`, () => this.#groups(view)));
    }
    if (group !== null && this.#parts.groups.isLive(group)) {
      frames.push(this.#frame('group', `group ${group}`, () => this.#group(group)));
    }
    return frames;
  }

  /** Returns history. @param group number of the group whose last 15 minutes are included, in `direction` */
  history(group: number | null, direction: number, ago: number): HistoryStatus {
    return this.#history.status(Date.now(), group === null ? null : laneOf(group, direction), ago);
  }

  #frame(event: FrameEvent, key: string, make: () => unknown): Frame {
    const known = this.#frames.get(key);
    if (known?.madeAtTick === this.#tick) return known;
    const json = JSON.stringify(make());
    const isSame = known?.json === json;
    const made = {
      event,
      json,
      bytes: isSame ? known.bytes : Buffer.from(`event: ${event}\ndata: ${json}\n\n`),
      changedAtTick: isSame ? known.changedAtTick : this.#tick,
      madeAtTick: this.#tick,
    };
    this.#frames.set(key, made);
    return made;
  }

  #group(group: number): GroupLive {
    const { groups, keys, registry } = this.#parts;
    const status = describeGroup(this.#parts, group);
    const kind = groups.numbers.has(status.group) ? null : keys?.kindOf(status.group);
    if (kind == null) return { ...status, template: null };
    const { revision } = registry?.stateOf(keyEntry(status.group)) ?? status;
    return { ...status, revision, template: kind.template };
  }

  #groups({ order, find, from, count }: LiveView): GroupList {
    const all = order === 'heat' ? this.#heat.byHeat : this.#heat.byName;
    const { groups } = this.#parts;
    const found = find === '' ? all : all.filter((lane) => groups.ofLane(lane).name.includes(find));
    const rows = found.slice(from, from + count).map((lane) => {
      const row = rowOf(new LaneSummary(this.#parts, lane));
      this.#heat.note(lane, row.wanted);
      return row;
    });
    return { total: all.length, found: found.length, from, rows, unnamed: this.#unnamed() };
  }

  #unnamed(): number {
    if (this.#tick - this.#unnamedAtTick >= UNNAMED_EVERY_TICKS) {
      this.#unnamedAtTick = this.#tick;
      this.#unnamedCount = countUnnamed(this.#parts);
    }
    return this.#unnamedCount;
  }

  #node(): NodeLive {
    const parts = this.#parts;
    const { cluster, nodeId, version, phase, ready, notReadyBecause, degraded, ...status } = describeNode(parts);
    const { kind, partitions, lost, pendingAppends } = status.topic;
    const lagMs = topicLagMs(parts, parts.clock());
    return {
      atMs: Date.now(),
      cluster,
      nodeId,
      version,
      phase,
      ready,
      notReadyBecause,
      degraded,
      uptimeMs: Math.round(status.uptimeMs),
      members: status.members,
      reportRoundTripMs: status.reportRoundTripMs,
      lastRebalancingMs: status.lastRebalancingMs,
      keys: status.keys,
      topicLagMs: Number.isNaN(lagMs) ? null : Math.round(lagMs),
      topic: { kind, partitions, lost, pendingAppends },
      canChange: parts.registry !== null,
    };
  }
}

/** Ticks between counts, which take ms with 10,000 groups. */
const UNNAMED_EVERY_TICKS = 5;
