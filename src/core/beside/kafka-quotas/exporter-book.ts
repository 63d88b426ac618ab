import { EMPTY_TOLD_AFTER_MS, EXPECTED_SHOWN } from '../constants.js';
import { covers, type Entity, entityKeyOf, isDefault, limitKeyOf } from './entity.js';
import { type ExporterPage, type KeeperEffect, type LimitSpec, log } from './keeper-events.js';
import type { BrokerReading } from './next-water-level.js';

/** Keeps the last page of every exporter, one exporter per broker. */
export class ExporterBook {
  readonly #holdMs: number;
  readonly #known = new Map<string, Known>();

  constructor(holdMs: number) {
    this.#holdMs = holdMs;
  }

  *states(nowMs: number): IterableIterator<ExporterState> {
    for (const [exporter, known] of this.#known) {
      const { problem, heardMs, readings } = known;
      yield { exporter, problem, silentMs: nowMs - heardMs, isUsed: this.#isUsed(known, nowMs), series: readings.size };
    }
  }

  /** Takes a round's pages; returns logs of changes. */
  take(pages: readonly ExporterPage[], limits: readonly LimitSpec[], nowMs: number): KeeperEffect[] {
    for (const exporter of this.#known.keys()) {
      if (!pages.some((page) => page.exporter === exporter)) this.#known.delete(exporter);
    }
    return pages.flatMap((page) => this.#takePage(page, limits, nowMs));
  }

  /** Returns a reading per broker; null = silent for too long. */
  readingsOf(entity: Entity, name: LimitSpec['name'], nowMs: number): (BrokerReading | null)[] {
    const key = limitKeyOf(entity, name);
    return [...this.#known.values()].map((known) => {
      return this.#isUsed(known, nowMs) ? (known.readings.get(key)?.reading ?? NOTHING) : null;
    });
  }

  /** Lists the entity, or for a default the seen ones it covers. */
  entitiesOf(entity: Entity, name: LimitSpec['name']): Entity[] {
    if (!isDefault(entity)) return [entity];
    const found = new Map<string, Entity>();
    for (const { readings } of this.#known.values()) {
      for (const seen of readings.values()) {
        if (seen.name === name && covers(entity, seen.entity)) found.set(entityKeyOf(seen.entity), seen.entity);
      }
    }
    return [...found.values()];
  }

  lastSeenAt(exporter: string): Entity[] {
    return [...(this.#known.get(exporter)?.readings.values() ?? [])].map(({ entity }) => entity);
  }

  /** Tests if any broker has reported the entity. */
  hasSeen(entity: Entity, name: LimitSpec['name']): boolean {
    return [...this.#known.values()].some(({ readings }) =>
      isDefault(entity) ? readings.size > 0 : readings.has(limitKeyOf(entity, name)),
    );
  }

  #isUsed({ heardMs }: Known, nowMs: number): boolean {
    return nowMs - heardMs < this.#holdMs;
  }

  #takePage({ exporter, readings, problem }: ExporterPage, limits: readonly LimitSpec[], nowMs: number) {
    const before = this.#known.get(exporter);
    const kept = readings === null ? (before?.readings ?? new Map()) : byKey(readings);
    // A broker that was never read may have any rate.
    const heardMs = readings === null ? (before?.heardMs ?? -Infinity) : nowMs;
    const isEmpty = kept.size === 0 && readings !== null && limits.length > 0;
    const emptySinceMs = isEmpty ? (before?.emptySinceMs ?? nowMs) : null;
    const isToldEmpty = emptySinceMs !== null && nowMs - emptySinceMs >= EMPTY_TOLD_AFTER_MS;
    const said = readings === null ? 'away' : isToldEmpty ? 'empty' : problem === null ? 'fine' : 'odd';
    this.#known.set(exporter, { readings: kept, heardMs, problem: isToldEmpty ? EMPTY : problem, emptySinceMs, said });
    if ((before?.said ?? 'fine') === said) return [];
    return [this.#told(exporter, said, problem, limits)];
  }

  #told(exporter: string, said: Known['said'], problem: string | null, limits: readonly LimitSpec[]): KeeperEffect {
    const [first] = limits;
    if (said === 'fine') return log('info', 'exporter is back', { exporter });
    if (said === 'odd') return log('warn', 'exporter has values that are no rates', { exporter, reason: problem });
    if (said === 'away' || first === undefined) {
      const until = `what it said last counts for ${this.#holdMs} ms, then its broker is taken to want everything`;
      return log('warn', 'exporter gives no page', { exporter, reason: problem, effect: until });
    }
    const expected = [...new Set(limits.map(({ entity }) => entityKeyOf(entity)))].slice(0, EXPECTED_SHOWN).join(', ');
    const remedy =
      'if clients are busy at this broker, compare the names of kafkaQuotas.metrics with its page, and the rules of the exporter with deploy/kafka/jmx.yml';
    return log('warn', 'exporter has a page without any client’s rate', { exporter, expected, remedy });
  }
}

export interface ExporterState {
  readonly exporter: string;
  readonly problem: string | null;
  readonly silentMs: number;
  readonly isUsed: boolean;
  readonly series: number;
}

interface Known {
  readonly readings: ReadonlyMap<string, { entity: Entity; name: LimitSpec['name']; reading: BrokerReading }>;
  readonly heardMs: number;
  readonly problem: string | null;
  /** Since when its pages are empty; null = it reports clients. */
  readonly emptySinceMs: number | null;
  readonly said: 'fine' | 'odd' | 'empty' | 'away';
}

/** Reading of an absent client, which Kafka does not report. */
const NOTHING: BrokerReading = { rate: 0, throttleMs: 0 };
const EMPTY = 'a page without any client’s rate';

function byKey(readings: NonNullable<ExporterPage['readings']>): Known['readings'] {
  return new Map(readings.map((each) => [limitKeyOf(each.entity, each.name), each]));
}
