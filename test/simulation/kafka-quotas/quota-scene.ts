import {
  type Entity,
  entityKeyOf,
  limitKeyOf,
  MARKER_NAME,
  type QuotaName,
} from '../../../src/core/beside/kafka-quotas/entity.js';
import { Keeper, type KeeperSettings } from '../../../src/core/beside/kafka-quotas/keeper.js';
import type {
  Alteration,
  KeeperEffect,
  LimitSpec,
  Marker,
} from '../../../src/core/beside/kafka-quotas/keeper-events.js';
import type { KeptRecord } from '../../../src/core/beside/kafka-quotas/keeper-record.js';
import { SimulatedBroker } from './simulated-broker.js';

export const APP: Entity = { user: null, clientId: 'app' };
export const PRODUCED: QuotaName = 'producer_byte_rate';
export const MARKER: Marker = { entity: { user: null, clientId: MARKER_NAME }, name: PRODUCED };

export interface SceneOptions {
  /** Bytes per second that the client wants of each broker. */
  readonly wants?: readonly number[];
  readonly windows?: number;
  readonly keepers?: readonly string[];
  readonly settings?: Partial<KeeperSettings>;
}

interface Written extends Alteration {
  readonly atMs: number;
  readonly by: string;
}

/** Brokers with one client, keepers with one log, in virtual time. */
export class QuotaScene {
  nowMs = 0;
  readonly brokers: SimulatedBroker[];
  readonly keepers = new Map<string, SimulatedKeeper>();
  /** All that was sent to Kafka. */
  readonly written: Written[] = [];
  readonly log: KeptRecord[] = [];
  readonly exportersAway = new Set<number>();
  /** Their rules match nothing. */
  readonly exportersEmpty = new Set<number>();
  specs: LimitSpec[];
  /** Keys of limits whose group has no quota any more. */
  unlimited: ReadonlySet<string> = new Set();
  /** What stands in Kafka, by limit. */
  readonly quotas = new Map<string, { entity: Entity; name: QuotaName; value: number }>();
  readonly #settings: Partial<KeeperSettings>;
  readonly #timers: { atMs: number; run: () => void }[] = [];

  constructor(options: SceneOptions = {}) {
    const { wants = [800_000, 100_000], windows = 1, keepers = ['a'], settings = {} } = options;
    this.#settings = settings;
    this.brokers = wants.map(() => new SimulatedBroker(windows));
    this.wants(...wants);
    this.specs = [{ entity: APP, name: PRODUCED, quota: 500_000, group: 'app' }];
    for (const id of keepers) this.start(id);
  }

  static running(seconds: number, options: SceneOptions = {}): QuotaScene {
    const scene = new QuotaScene(options);
    scene.run(seconds);
    return scene;
  }

  start(id: string): void {
    this.keepers.set(id, new SimulatedKeeper(this, id, this.#settings));
  }

  keeper(id: string): SimulatedKeeper {
    const keeper = this.keepers.get(id);
    if (keeper === undefined) throw new Error(`no keeper ${id}`);
    return keeper;
  }

  wants(...demands: readonly number[]): void {
    for (const [at, demand] of demands.entries()) this.brokers[at].demand = demand;
  }

  get valueInForce(): number | null {
    return this.quotas.get(limitKeyOf(APP, PRODUCED))?.value ?? null;
  }

  /** Changes it by hand. */
  set(entity: Entity, value: number | null, name = PRODUCED): void {
    const key = limitKeyOf(entity, name);
    if (value === null) this.quotas.delete(key);
    else this.quotas.set(key, { entity, name, value });
    if (entityKeyOf(entity) === entityKeyOf(APP)) {
      for (const broker of this.brokers) broker.quota = value ?? Infinity;
    }
  }

  apply(by: string, alterations: readonly Alteration[]): void {
    for (const alteration of alterations) {
      this.written.push({ ...alteration, atMs: this.nowMs, by });
      this.set(alteration.entity, alteration.value, alteration.name);
    }
  }

  append(records: readonly KeptRecord[]): void {
    this.after(30, () => this.log.push(...records));
  }

  after(ms: number, run: () => void): void {
    this.#timers.push({ atMs: this.nowMs + ms, run });
  }

  pages() {
    return this.brokers.map((broker, at) => {
      const exporter = `broker-${at + 1}`;
      if (this.exportersAway.has(at)) return { exporter, readings: null, problem: 'connection refused' };
      const isVisible = this.quotas.size > 0 && !this.exportersEmpty.has(at);
      const reading = { entity: APP, name: PRODUCED, reading: broker.reading(this.nowMs) };
      return { exporter, readings: isVisible ? [reading] : [], problem: null };
    });
  }

  /** Returns what the client got per second at each broker. */
  run(seconds: number): number[] {
    const before = this.brokers.map(({ admitted }) => admitted);
    for (const untilMs = this.nowMs + 1000 * seconds; this.nowMs < untilMs; ) {
      this.nowMs += STEP_MS;
      for (const timer of this.#timers.filter(({ atMs }) => atMs <= this.nowMs)) {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        timer.run();
      }
      for (const broker of this.brokers) broker.run(this.nowMs, STEP_MS);
      for (const keeper of this.keepers.values()) keeper.run();
    }
    return this.brokers.map(({ admitted }, at) => (admitted - before[at]) / seconds);
  }
}

export class SimulatedKeeper {
  readonly keeper: Keeper;
  readonly lines: Extract<KeeperEffect, { kind: 'log' }>[] = [];
  /** Where its configuration is another one than the others'. */
  specs: LimitSpec[] | null = null;
  readonly #scene: QuotaScene;
  readonly #id: string;
  isFrozen = false;
  isCutOff = false;
  /** A process that freezes while it sends: what it sent arrives when it goes on. */
  #stuck: (readonly Alteration[])[] | null = null;
  #read = 0;
  #nextRoundMs: number;
  #hasCaughtUp = false;

  constructor(scene: QuotaScene, id: string, settings: Partial<KeeperSettings>) {
    this.#scene = scene;
    this.#id = id;
    this.#nextRoundMs = scene.nowMs + 1000;
    const life = `${id}@${scene.nowMs}`;
    const spans = { aliveMs: 5000, permitMs: 2000, holdMs: 10_000 };
    this.keeper = new Keeper({ id, life, ...spans, foreignChanges: 'leave', adoptsAtStart: false, ...settings });
    this.#step({ kind: 'epoch' });
  }

  /** Freezes at its next change, between the last look at its lease and the socket. */
  freezeWhileSending(): void {
    this.#stuck = [];
  }

  thaw(): void {
    this.isFrozen = false;
    for (const alterations of this.#stuck ?? []) this.#scene.apply(this.#id, alterations);
    this.#stuck = null;
  }

  kill(): void {
    this.#scene.keepers.delete(this.#id);
  }

  stop(): void {
    this.#step({ kind: 'stopping' });
    this.kill();
  }

  /** Lines that say this. */
  said(part: string): readonly Extract<KeeperEffect, { kind: 'log' }>[] {
    return this.lines.filter(({ message }) => message.includes(part));
  }

  run(): void {
    const { nowMs, log } = this.#scene;
    if (this.isFrozen) return;
    if (!this.isCutOff && this.#read < log.length) {
      const records = log.slice(this.#read);
      this.#read = log.length;
      this.#step({ kind: 'records', records });
    }
    if (this.#nextRoundMs > nowMs || this.isFrozen) return;
    this.#nextRoundMs = nowMs + 1000;
    if (!this.#hasCaughtUp) this.#step({ kind: 'caught-up' });
    this.#hasCaughtUp = true;
    const described = [...this.#scene.quotas.values()];
    this.#step({ kind: 'beat' });
    const limits = this.specs ?? this.#scene.specs;
    const { unlimited } = this.#scene;
    this.#step({ kind: 'round', limits, markers: [MARKER], pages: this.#scene.pages(), described, unlimited });
  }

  #step(event: Parameters<Keeper['step']>[0]): void {
    for (const effect of this.keeper.step(event, this.#scene.nowMs)) {
      if (effect.kind === 'log') this.lines.push(effect);
      else if (effect.kind === 'append') {
        if (this.isCutOff) this.#scene.after(500, () => this.#step({ kind: 'append-failed' }));
        else this.#scene.append(effect.records);
      } else if (effect.kind === 'wake')
        this.#scene.after(effect.inMs, () => !this.isFrozen && this.#step({ kind: 'woken' }));
      else if (this.#stuck !== null) {
        this.#stuck.push(effect.alterations);
        this.isFrozen = true;
      } else this.#alter(effect.alterations);
    }
  }

  #alter(alterations: readonly Alteration[]): void {
    this.#scene.after(30, () => {
      this.#scene.apply(this.#id, alterations);
      this.#step({ kind: 'altered', count: alterations.length, failures: [] });
    });
  }
}

const STEP_MS = 10;
