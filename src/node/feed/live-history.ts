import { finiteOrNull } from '../../core/base/shown-rates.js';
import { BYTES, DIMENSIONS } from '../../core/base/vocabulary.js';
import type { HistoryRow, HistoryStatus, TrackStatus } from '../api/live-status.js';
import { LaneSummary } from '../status/lane-summary.js';
import type { StatusParts } from '../status/status-parts.js';
import type { GroupHeat } from './group-heat.js';

/**
 * Keeps the last 15 minutes in memory: a ring per figure, and a track per hot or watched lane. *Worked:* 110 tracks of
 * 64,800 bytes and four rings of 7,200 are 7.2 MB.
 */
export class LiveHistory {
  readonly #parts: StatusParts;
  readonly #heat: GroupHeat;
  readonly #tracks = new Map<number, LaneTrack>();
  readonly #refused = new Map<number, { count: number; tick: number }>();
  readonly #node = recordOf(NODE_FIGURES, () => new Float64Array(TRACK_SECONDS).fill(Number.NaN));
  #tick = 0;
  #first = 1;
  #next = 0;

  constructor(parts: StatusParts, heat: GroupHeat) {
    this.#parts = parts;
    this.#heat = heat;
  }

  get bytes(): number {
    return this.#tracks.size * TRACK_BYTES + NODE_FIGURES.length * TRACK_SECONDS * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Takes a second. @param watched lanes that somebody looks at */
  tick(watched: Iterable<number>): void {
    this.#tick++;
    for (const track of this.#tracks.values()) track.clear(this.#tick);
    this.#writeNode();
    this.#chooseLanes(watched);
    this.#writeLanes();
  }

  /** Returns the status. @param ago seconds before now of `rows` */
  status(nowMs: number, lane: number | null, ago: number): HistoryStatus {
    const to = this.#tick;
    const from = Math.max(this.#first, to - TRACK_SECONDS + 1);
    const track = lane === null ? undefined : this.#trackOf(lane);
    return {
      endedMs: nowMs,
      seconds: to - from + 1,
      node: recordOf(NODE_FIGURES, (name) => valuesOf(this.#node[name], from, to)),
      group: track === undefined ? null : { ...this.#nameOf(track), ...track.read(from, to) },
      rows: to - ago < from ? [] : this.#rowsAt(to - ago),
    };
  }

  #trackOf(lane: number): LaneTrack | undefined {
    const track = this.#tracks.get(lane);
    return track?.group === this.#parts.groups.ofLane(lane).name ? track : undefined;
  }

  #nameOf({ lane, group }: LaneTrack) {
    const { direction, shownDimension } = new LaneSummary(this.#parts, lane);
    return { group, direction, dimension: DIMENSIONS[shownDimension] } as const;
  }

  #rowsAt(tick: number): HistoryRow[] {
    return [...this.#tracks.values()].flatMap((track) => {
      const [quota, admitted, wanted] = (['quota', 'admitted', 'wanted'] as const).map((name) => {
        return track.figureAt(name, tick);
      }) as [number, number, number];
      if (Number.isNaN(wanted)) return [];
      return [{ ...this.#nameOf(track), quota: finiteOrNull(quota), admitted, wanted }];
    });
  }

  #writeNode(): void {
    const { coordinator } = this.#parts.loop;
    const at = this.#tick % TRACK_SECONDS;
    const nowMs = this.#parts.clock();
    this.#node.members[at] = coordinator?.membership.alive.length ?? Number.NaN;
    this.#node.reportRoundTripMs[at] = coordinator?.reportRoundTripMs ?? Number.NaN;
    this.#node.topicLagMs[at] = topicLagMs(this.#parts, nowMs);
    this.#node.roundMs[at] = this.#parts.loop.rounds.totalMs / Math.max(1, this.#parts.loop.rounds.count);
  }

  /** Gives tracks to watched lanes, then to the hottest; takes them from unworthy ones. */
  #chooseLanes(watched: Iterable<number>): void {
    const worth = new Set(watched);
    for (const lane of this.#heat.byHeat.slice(0, LANES_MAX)) {
      if (worth.size < LANES_MAX && this.#heat.heatOf(lane) > 0) worth.add(lane);
    }
    for (const lane of worth) {
      const group = this.#parts.groups.ofLane(lane).name;
      const known = this.#trackOf(lane);
      if (known !== undefined) known.worthAtTick = this.#tick;
      else if (this.#makeRoom()) this.#tracks.set(lane, new LaneTrack(lane, group, this.#tick));
    }
  }

  /** Frees a track; false = all are worthy. */
  #makeRoom(): boolean {
    if (this.#tracks.size < LANES_MAX) return true;
    let oldest: LaneTrack | null = null;
    for (const track of this.#tracks.values()) {
      if (oldest === null || track.worthAtTick < oldest.worthAtTick) oldest = track;
    }
    if (oldest === null || oldest.worthAtTick === this.#tick) return false;
    this.#refused.delete(oldest.lane);
    return this.#tracks.delete(oldest.lane);
  }

  /** Writes lanes, in turns where they are many: every node's share takes a convergence. */
  #writeLanes(): void {
    const tracks = [...this.#tracks.values()];
    const nodes = this.#parts.loop.coordinator?.membership.alive.length ?? 0;
    const turns = Math.min(tracks.length, Math.max(1, Math.floor(NODES_PER_TICK / Math.max(1, nodes))));
    for (let turn = 0; turn < turns; turn++) this.#writeLane(tracks[this.#next++ % tracks.length]);
  }

  #writeLane(track: LaneTrack): void {
    const { lane } = track;
    const summary = new LaneSummary(this.#parts, lane);
    if (summary.config.name !== track.group) return;
    const { shownDimension: dimension, quota, target } = summary;
    const { nodes, sums } = summary.divided;
    const key = dimension === BYTES ? 'bytesPerSecond' : 'messagesPerSecond';
    const shares: NodeShare[] = nodes.map(({ nodeId, share }) => ({ nodeId, share: share[key] ?? Number.NaN }));
    const figures = {
      quota: finiteOrNaN(quota[dimension]),
      target: finiteOrNaN(target[dimension]),
      admitted: sums.usage[dimension],
      wanted: sums.demand[dimension],
      tokens: summary.bucket(dimension)?.tokens ?? Number.NaN,
      refused: this.#refusedPerSecond(lane, summary.counted('refused', dimension)),
    };
    track.write(this.#tick, figures, shares);
  }

  #refusedPerSecond(lane: number, count: number): number {
    const before = this.#refused.get(lane);
    this.#refused.set(lane, { count, tick: this.#tick });
    return before === undefined ? Number.NaN : (count - before.count) / (this.#tick - before.tick);
  }
}

function finiteOrNaN(rate: number): number {
  return Number.isFinite(rate) ? rate : Number.NaN;
}

/** Returns milliseconds since the append of the newest own record read. The slowest partition counts. */
export function topicLagMs({ loop: { coordinator }, topic }: StatusParts, nowMs: number): number {
  if (coordinator === null) return Number.NaN;
  const silent = Array.from({ length: topic.partitions }, (_, at) => coordinator.link.silentMs(at, nowMs));
  return Math.max(0, ...silent.filter(Number.isFinite));
}

const NODE_FIGURES = ['members', 'reportRoundTripMs', 'topicLagMs', 'roundMs'] as const;
/** 110 × 64,800 bytes = 7.1 MB. */
export const LANES_MAX = 110;
/** Nodes whose shares are computed per second: about 2 ms. */
const NODES_PER_TICK = 2000;

/** Remembers 15 minutes of a lane, a value per second. Units/s; NaN = not looked at. */
export class LaneTrack {
  readonly lane: number;
  /** Name; a number may pass to another. */
  readonly group: string;
  /** Tick when the lane last deserved a track. */
  worthAtTick: number;
  readonly #columns: Float32Array;
  /** Nodes with a column of their own; all others share the last. */
  readonly #nodeIds: string[] = [];

  constructor(lane: number, group: string, tick: number) {
    this.lane = lane;
    this.group = group;
    this.worthAtTick = tick;
    this.#columns = new Float32Array(TRACK_COLUMNS * TRACK_SECONDS).fill(Number.NaN);
  }

  clear(tick: number): void {
    const at = tick % TRACK_SECONDS;
    for (let column = 0; column < TRACK_COLUMNS; column++) this.#columns[column * TRACK_SECONDS + at] = Number.NaN;
  }

  write(tick: number, figures: LaneFigures, shares: readonly NodeShare[]): void {
    for (const [column, name] of FIGURES.entries()) this.#set(column, tick, figures[name]);
    let others = Number.NaN;
    for (const { nodeId, share } of shares) {
      const at = this.#columnOf(nodeId);
      if (at !== -1) this.#set(FIGURES.length + at, tick, share);
      else others = (Number.isNaN(others) ? 0 : others) + share;
    }
    this.#set(FIGURES.length + NAMED_NODES, tick, others);
  }

  figureAt(name: keyof LaneFigures, tick: number): number {
    return this.#columns[FIGURES.indexOf(name) * TRACK_SECONDS + (tick % TRACK_SECONDS)];
  }

  /** Reads seconds `from` to `to`, both included; null = unknown. */
  read(from: number, to: number): TrackStatus {
    const column = (at: number) => {
      return valuesOf(this.#columns.subarray(at * TRACK_SECONDS, (at + 1) * TRACK_SECONDS), from, to);
    };
    const nodes = this.#nodeIds.map((nodeId, at) => ({ nodeId, share: column(FIGURES.length + at) }));
    const others = column(FIGURES.length + NAMED_NODES);
    const figures: Columns = recordOf(FIGURES, (name) => column(FIGURES.indexOf(name)));
    const hasOthers = others.some((value) => value !== null);
    return { ...figures, nodes: hasOthers ? [...nodes, { nodeId: null, share: others }] : nodes };
  }

  #set(column: number, tick: number, value: number): void {
    this.#columns[column * TRACK_SECONDS + (tick % TRACK_SECONDS)] = value;
  }

  #columnOf(nodeId: string): number {
    const known = this.#nodeIds.indexOf(nodeId);
    if (known !== -1) return known;
    return this.#nodeIds.length === NAMED_NODES ? -1 : this.#nodeIds.push(nodeId) - 1;
  }
}

interface LaneFigures {
  readonly quota: number;
  readonly target: number;
  readonly admitted: number;
  readonly wanted: number;
  /** Tokens in the cluster's bucket; NaN = nodes have gates. */
  readonly tokens: number;
  /** Refused units at this node. */
  readonly refused: number;
}

interface NodeShare {
  readonly nodeId: string;
  readonly share: number;
}

type Columns = Readonly<Record<keyof LaneFigures, readonly (number | null)[]>>;

export const TRACK_SECONDS = 900;
const FIGURES = ['quota', 'target', 'admitted', 'wanted', 'tokens', 'refused'] as const;
/** Columns of nodes: with the sum, twelve lines are as many as eyes tell apart. */
const NAMED_NODES = 11;
const TRACK_COLUMNS = FIGURES.length + NAMED_NODES + 1;

/** 18 columns × 900 s × 4 bytes = 64,800. */
const TRACK_BYTES = TRACK_COLUMNS * TRACK_SECONDS * Float32Array.BYTES_PER_ELEMENT;

/** Reads a ring from second `from` to `to`, both included; null = unknown. */
function valuesOf(ring: Float32Array | Float64Array, from: number, to: number): (number | null)[] {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const value = ring[(from + at) % TRACK_SECONDS];
    return Number.isNaN(value) ? null : shown(value);
  });
}

/** Rounds to the digits of a chart: half the text of a float. */
function shown(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

function recordOf<Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}
