import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { World } from '../../sim/cluster/world.js';
import { backendIdOf, groupIdOf } from '../../src/core/base/ids.js';
import type { GroupSettings, RampSettings } from '../../src/core/base/settings.js';
import { MESSAGES, slotOf, UNLIMITED } from '../../src/core/base/vocabulary.js';
import type { Hold } from '../../src/core/limiter/held-tokens.js';
import { GRANTED } from '../../src/core/limiter/limiter.js';
import { MODES } from '../../src/core/ramp/ramp.js';
import { bucketNow } from '../../src/status/bucket-now.js';
import { GROUP, SETTINGS } from '../simulation/settings.js';

/** The one lane of a transcript: publish of the only group. */
const LANE = 0;
const SLOT = slotOf(LANE, MESSAGES);
const SEED = 1;
const BAR_WIDTH = 20;
/** Figures that are counted over a span: a message more or less is no change. */
const COUNTED = ['demand', 'usage'];
/** How often somebody reports how the backend is. */
const REPORTED_EVERY_MS = 1000;

type Options = ReadonlyMap<string, string>;

/** The commands of a transcript (docs/contribute/transcripts.md), on the production core in virtual time. */
export class TranscriptCluster {
  readonly #world: World;
  readonly #quota: number;
  readonly #backend: string | null;
  readonly #wanted = new Map<string, number>();
  readonly #attempts = new Map<string, { asked: number; admitted: number }>();
  readonly #batches = new Map<string, Hold>();
  readonly #told = new Map<string, Readonly<Record<string, number>>>();
  readonly #notices = new Map<SimulatedNode, number>();
  /** Its queue ÷ what the queue should be; null = nobody reports it. */
  #queue: number | null = null;
  #ranMs = 0;

  constructor(options: Options) {
    const option = (name: string, standard: string) => options.get(name) ?? standard;
    const known = [
      'quota',
      'strategy',
      'allowance',
      'window',
      'ramp',
      'over',
      'from',
      'policy',
      'hold',
      'backend',
      'burst',
    ];
    rejectUnknown([...options.keys()], known);
    this.#quota = Number(option('quota', '1000'));
    this.#backend = options.get('backend') ?? null;
    const none = { total: Number.POSITIVE_INFINITY, reserved: 0 };
    const cost = { publish: this.#backend === null ? none : { total: this.#quota, reserved: 0 }, dispatch: none };
    const group: GroupSettings = {
      ...GROUP,
      quota: { publish: [this.#quota, Number.POSITIVE_INFINITY], dispatch: UNLIMITED },
      cost,
      strategy: option('strategy', GROUP.strategy),
      allowanceRatio: Number(option('allowance', '0')),
      limiter: options.has('window') ? 'window' : 'bucket',
      windowMs: millisecondsOf(option('window', '1s')),
      sharing: options.has('burst') ? 'tokens' : 'rates',
      burst: { messages: Number(option('burst', '1')), bytes: null, policy: 'optimistic' },
      ramp: options.has('ramp') ? rampOf(option) : null,
      isolation: {
        policy: option('policy', 'equal-share') as GroupSettings['isolation']['policy'],
        holdMs: millisecondsOf(option('hold', '10s')),
      },
    };
    // Arrivals come evenly, so there is no noise to be told from a change; one backend alone must limit.
    const limiting = { ...SETTINGS.limiting, zonesLeftOut: 0, levelSmoothingMs: 0 };
    this.#world = new World(SEED, { ...SETTINGS, noiseFactor: 0, limiting, groups: [group] });
  }

  get nowMs(): number {
    return Math.round(this.#world.nowMs);
  }

  start(names: readonly string[]): void {
    for (const name of names) {
      const isNew = !this.#world.nodes.has(name);
      this.#notices.set(this.#world.start(name, { compacted: !isNew }), 0);
      if (isNew) this.#drive(name);
    }
  }

  /** Work per second that arrives at nodes from now on, evenly spaced. */
  demand(rates: Options): void {
    for (const [name, rate] of rates) this.#wanted.set(name, Number(rate));
  }

  leave(names: readonly string[]): void {
    for (const name of names) this.#world.node(name).leave();
  }

  crash(names: readonly string[]): void {
    for (const name of names) this.#world.node(name).crash();
  }

  cut(names: readonly string[], isCut: boolean): void {
    for (const name of names) this.#world.node(name).cutOff(isCut);
  }

  setTopicAway(isAway: boolean): void {
    this.#world.topic.isAway = isAway;
  }

  setQuota(quota: number): void {
    const [group = GROUP] = this.#world.settings.groups;
    const publish = [quota, Number.POSITIVE_INFINITY] as const;
    this.#world.changeGroup(0, { ...group, quota: { ...group.quota, publish } });
  }

  /** The backend's queue is so much of what it should be, from now on: a spring of a quarter below, as FoundationDB's. */
  setQueue(part: number): void {
    const begins = this.#queue === null;
    this.#queue = part;
    if (begins) this.#reportQueue();
  }

  /** Takes up to so many messages at once and holds them; returns how many. */
  take(name: string, messages: number): number {
    const node = this.#world.node(name);
    const { limiter, nowMs } = node;
    const taken = Math.floor(Math.max(0, Math.min(messages, limiter.available(LANE, MESSAGES, nowMs))));
    if (taken === 0 || limiter.reserve(LANE, taken, 0, nowMs) !== GRANTED) return 0;
    limiter.countSettled(LANE, taken, 0);
    this.#batches.set(name, limiter.buckets.hold(LANE, taken, 0));
    return taken;
  }

  /** Hands back what was not used of the last batch; returns what may be taken now. */
  handBack(name: string, messages: number): number {
    const { limiter, nowMs } = this.#world.node(name);
    const batch = this.#batches.get(name);
    if (batch === undefined) throw new Error(`${name} has taken no batch`);
    this.#batches.delete(name);
    batch.end(messages, 0, nowMs);
    return Math.floor(limiter.available(LANE, MESSAGES, nowMs));
  }

  /** Pieces of work that arrive at one instant; returns how many of them each node admits. */
  work(amounts: Options): readonly string[] {
    return [...amounts].map(([name, amount]) => {
      const node = this.#world.node(name);
      const asked = Array.from({ length: Number(amount) }, () => node.tryAcquire(LANE, 1, 0));
      return `${name}  ${asked.filter(Boolean).length} of ${amount} admitted`;
    });
  }

  /** Lets the time pass; demand and usage are those of this span. */
  run(milliseconds: number): void {
    this.#ranMs = milliseconds;
    this.#attempts.clear();
    this.#world.runFor(milliseconds);
    for (const counts of this.#attempts.values()) {
      counts.asked *= 1000 / milliseconds;
      counts.admitted *= 1000 / milliseconds;
    }
  }

  /** What nodes noticed and what they hold, as far as it has changed since the last call. */
  changes(): string[] {
    const nodes = [...this.#world.nodes].sort(([left], [right]) => (left < right ? -1 : 1));
    const notices = nodes.flatMap(([name, node]) => this.#newNotices(name, node));
    const target = this.#backend === null ? [] : this.#target();
    return [...notices, ...target, ...nodes.flatMap(([name, node]) => this.#figures(name, node))];
  }

  /** A line of figures, if one of them differs from what was told by more than counting whole messages explains. */
  #changed(of: string, figures: Readonly<Record<string, number>>, line: () => string): string[] {
    const told = this.#told.get(of);
    const one = Math.ceil(1500 / this.#ranMs);
    const isSame = ([name, value]: [string, number]) => {
      const before = told?.[name] ?? Number.NaN;
      return before === value || Math.abs(before - value) <= (COUNTED.includes(name) ? one : 0);
    };
    if (told !== undefined && Object.entries(figures).every(isSame)) return [];
    this.#told.set(of, figures);
    return [line()];
  }

  #figures(name: string, node: SimulatedNode): string[] {
    if (!node.isRunning) return this.#changed(name, { gone: 1 }, () => `${name}  gone`);
    const { asked, admitted } = this.#attempts.get(name) ?? { asked: 0, admitted: 0 };
    const share = Math.round(node.coordinator.shares.applied[SLOT] as number);
    const isConfirmed = node.nowMs <= node.limiter.validUntilMs.at(LANE);
    const now = bucketNow(node.coordinator, LANE, MESSAGES, node.nowMs);
    const limit = isConfirmed ? Math.round(node.limiter.buckets.rate.at(SLOT)) : 0;
    const held = now === null ? { limit } : { tokens: Math.round(now.tokens) };
    const figures = { demand: Math.round(asked), usage: Math.round(admitted), share, ...held };
    const bar = '#'.repeat(Math.round((BAR_WIDTH * Math.min(share, this.#quota)) / this.#quota)).padEnd(BAR_WIDTH, '.');
    const shown = Object.entries(figures).map(([of, value]) => `${of} ${textOf(value)}`);
    return this.#changed(name, figures, () => `${name}  ${shown.join('  ')}  ${bar}`);
  }

  #newNotices(name: string, node: SimulatedNode): string[] {
    const told = this.#notices.get(node) ?? 0;
    this.#notices.set(node, node.notices.length);
    const fresh = node.notices.slice(told).map(({ atMs, notice }) => {
      const who = 'nodeId' in notice && notice.nodeId !== null ? ` ${notice.nodeId}` : '';
      return `${Math.round(atMs)} ms ${notice.kind}${who}`;
    });
    return fresh.length === 0 ? [] : [`${name}  ${fresh.join(' · ')}`];
  }

  #target(): string[] {
    const { coordinator } = this.#firstRunning();
    const [group = GROUP] = this.#world.settings.groups;
    const mapLane = coordinator.usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, group.name), 0);
    const target = Math.round(coordinator.targets.decide(group, 0, mapLane).decision.target);
    return this.#changed('target', { target }, () => `target ${target}`);
  }

  #firstRunning(): SimulatedNode {
    const running = [...this.#world.nodes.values()].find(({ isRunning }) => isRunning);
    if (running === undefined) throw new Error('no node is running');
    return running;
  }

  #reportQueue(): void {
    const health = { kind: 'level', level: this.#queue ?? 0, target: 1, spring: 0.25 } as const;
    const reporter = this.#firstRunning();
    if (reporter.coordinator.isReady) {
      reporter.step({ kind: 'backend-reported', backend: this.#backend ?? '', zone: 'z', health });
    }
    this.#world.queue.after(REPORTED_EVERY_MS, () => this.#reportQueue());
  }

  #drive(name: string): void {
    const { queue } = this.#world;
    const next = () => {
      const rate = this.#wanted.get(name) ?? 0;
      if (rate > 0) this.#ask(name);
      queue.after(rate > 0 ? 1000 / rate : 1, next);
    };
    next();
  }

  #ask(name: string): void {
    const node = this.#world.node(name);
    if (!node.isRunning) return;
    const counts = this.#attempts.get(name) ?? { asked: 0, admitted: 0 };
    this.#attempts.set(name, counts);
    counts.asked++;
    if (!node.tryAcquire(LANE, 1, 0)) return;
    counts.admitted++;
    if (this.#backend === null) return;
    node.coordinator.costs.report(LANE, backendIdOf(SETTINGS.cluster, this.#backend), 1, 1, node.nowMs);
  }
}

function textOf(figure: number): string {
  return (Number.isFinite(figure) ? String(figure) : 'none').padStart(5);
}

function rampOf(option: (name: string, standard: string) => string): RampSettings {
  const mode = option('ramp', 'scheduled') as RampSettings['mode'];
  rejectUnknown([mode], Object.keys(MODES));
  return {
    mode,
    fromPerSecond: Number(option('from', '100')),
    toPerSecond: null,
    overMs: millisecondsOf(option('over', '10s')),
    thresholdRatio: 0.5,
    coolDownMs: 5000,
    pausePenaltyRatio: 1,
    timeToLiveMs: 180_000,
  };
}

export function rejectUnknown(given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`"${unknown}" is not known; known are ${known.join(', ')}`);
}

/** Milliseconds of `200ms` or `2s`. */
export function millisecondsOf(text: string): number {
  const [, amount, unit] = /^([\d.]+)(ms|s)$/.exec(text) ?? [];
  if (amount === undefined) throw new Error(`"${text}" is no time; write 200ms or 2s`);
  return Number(amount) * (unit === 's' ? 1000 : 1);
}
