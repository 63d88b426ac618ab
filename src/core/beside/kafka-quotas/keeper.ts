import {
  ALTERED_EVERY_MS,
  ALTERED_KEPT_MS,
  BLIND_AFTER_MS,
  MARKER_BYTES_PER_SECOND,
  SILENT_KEEPER_MS,
  UNSEEN_MS,
} from '../constants.js';
import { type Entity, entityKeyOf, entityText, isDefault, limitKeyOf, type QuotaName } from './entity.js';
import { ExporterBook } from './exporter-book.js';
import {
  type Alteration,
  type DescribedQuota,
  type KeeperEffect,
  type KeeperEvent,
  type KeeperRound,
  type LimitSpec,
  log,
  type Marker,
} from './keeper-events.js';
import {
  type KeptRecord,
  keeperOfRecordKey,
  keeperRecordKey,
  type LimitRecord,
  limitOfRecordKey,
  limitRecordKey,
  WRITER_KEY,
} from './keeper-record.js';
import { type LimitFinding, LimitState } from './limit-state.js';
import { nextWaterLevel } from './next-water-level.js';
import { type ElectionSettings, WriterElection } from './writer-election.js';

export interface KeeperSettings extends ElectionSettings {
  /** Milliseconds for which a silent exporter's figures count. */
  readonly holdMs: number;
  /** Treatment of a foreign value: it stays, or is taken over. */
  readonly foreignChanges: 'leave' | 'adopt';
  /** True = takes over foreign values at the first look, whatever `foreignChanges`. */
  readonly adoptsAtStart: boolean;
}

/**
 * Keeps the client quotas of a Kafka cluster. It reads all brokers, computes a value per entity, and writes as the
 * elected writer. A machine without clock or network. A change is computed in a round, written to the log, read back,
 * and sent to Kafka. So every value in Kafka stood in the log before.
 */
export class Keeper {
  readonly election: WriterElection;
  readonly exporters: ExporterBook;
  readonly #settings: KeeperSettings;
  readonly #limits = new Map<string, LimitState>();
  #specs: readonly LimitSpec[] = [];
  #stamp = '';
  #sequence = 0;
  #isCaughtUp = false;
  #hasLooked = false;
  #isStopping = false;
  #wasWriter = false;
  #mayWriteSinceMs: number | null = null;
  readonly #alteredMs = new Map<string, number>();
  readonly #told = new Set<string>();
  readonly counts = { alterations: 0, alterationsFailed: 0, foreignChanges: 0 };

  constructor(settings: KeeperSettings) {
    this.#settings = settings;
    this.election = new WriterElection(settings);
    this.exporters = new ExporterBook(settings.holdMs);
  }

  /** Limits of the configuration, and further ones in the log. */
  get limits(): ReadonlyMap<string, LimitState> {
    return this.#limits;
  }

  get specs(): readonly LimitSpec[] {
    return this.#specs;
  }

  step(event: KeeperEvent, nowMs: number): KeeperEffect[] {
    if (this.#isStopping) return [];
    switch (event.kind) {
      case 'epoch':
        this.#isCaughtUp = false;
        this.election.reset();
        for (const limit of this.#limits.values()) limit.forget();
        return [];
      case 'caught-up':
        this.#isCaughtUp = true;
        this.election.caughtUp(nowMs);
        return [];
      case 'records':
        return [...event.records.flatMap((record) => this.#read(record, nowMs)), ...this.#send(nowMs)];
      case 'beat':
        return this.#beat(nowMs);
      case 'round':
        return this.#round(event, nowMs);
      case 'woken':
        return this.#send(nowMs);
      case 'altered':
        return this.#altered(event);
      case 'append-failed':
        this.election.claimFailed();
        return [];
      case 'stopping':
        this.#isStopping = true;
        // A running reader sees the leave; a later one finds no record.
        return [append([this.#sign(nowMs, true), { key: keeperRecordKey(this.#settings.id), record: null }])];
    }
  }

  #read({ key, record }: KeptRecord, nowMs: number): KeeperEffect[] {
    if (record === null) {
      const limitKey = limitOfRecordKey(key);
      if (limitKey !== null) this.#limits.get(limitKey)?.forget();
      const id = keeperOfRecordKey(key);
      if (id !== null) this.election.forget(id, nowMs);
      return [];
    }
    switch (record.kind) {
      case 'keeper':
        if (keeperOfRecordKey(key) === record.id) this.election.takeSign(record, nowMs);
        return [];
      case 'writer': {
        if (key !== WRITER_KEY) return [];
        const again = this.election.takeClaim(record, nowMs);
        return again === null ? [] : [append([{ key: WRITER_KEY, record: again }])];
      }
      case 'limit': {
        const limitKey = limitKeyOf(record.entity, record.name);
        if (key !== limitRecordKey(limitKey)) return [];
        return this.#readLimit(this.#limitOf(limitKey, record.entity, record.name), record);
      }
    }
  }

  #readLimit(limit: LimitState, record: LimitRecord): KeeperEffect[] {
    const { writer, isWriter } = this.election;
    const counts = this.election.counts(record);
    // Before catching up, this may be all that compaction has left.
    if (counts || !this.#isCaughtUp) {
      limit.take(record, counts && isWriter);
      return [];
    }
    if (!isWriter || writer === null || limit.record === null) return [];
    // A former writer's late record hides the valid one from later readers: it is written again.
    const { term, id, life } = writer;
    const key = limitRecordKey(limitKeyOf(limit.entity, limit.name));
    return [append([{ key, record: { ...limit.record, term, id, life } }])];
  }

  #limitOf(key: string, entity: Entity, name: QuotaName): LimitState {
    const limit = this.#limits.get(key) ?? new LimitState(entity, name);
    this.#limits.set(key, limit);
    return limit;
  }

  /** Beats, from the first look on: before, there is nothing to publish. */
  #beat(nowMs: number): KeeperEffect[] {
    if (!this.#isCaughtUp || !this.#hasLooked) return [];
    const claim = this.election.claim(nowMs);
    return [
      append([this.#sign(nowMs, false)]),
      ...(claim === null ? [] : [append([{ key: WRITER_KEY, record: claim }])]),
      ...this.#tellElection(nowMs),
    ];
  }

  #round(
    { limits, markers, pages, described, unseen = NONE, unlimited = NONE }: KeeperRound,
    nowMs: number,
  ): KeeperEffect[] {
    this.#specs = limits;
    this.#stamp = stampOf(limits);
    this.#hasLooked = true;
    const effects = this.exporters.take(pages, limits, nowMs);
    if (!this.#isCaughtUp) return effects;
    const specs = [...this.#neededMarkers(markers, described), ...limits];
    for (const limit of this.#limits.values()) limit.isKept = false;
    for (const { entity, name } of specs) this.#limitOf(limitKeyOf(entity, name), entity, name).isKept = true;
    this.#prune(unseen, nowMs);
    if (described !== null) effects.push(...this.#compare(described, nowMs));
    const mayWrite = this.election.mayWrite(nowMs);
    this.#mayWriteSinceMs = mayWrite ? (this.#mayWriteSinceMs ?? nowMs) : null;
    // Kafka's state must be known before it is changed.
    if (mayWrite && described !== null) effects.push(...this.#plan(specs, nowMs), ...this.#putBack(unlimited, nowMs));
    if (mayWrite) effects.push(...this.#forgetKeepers(nowMs));
    return effects;
  }

  /** Forgets unneeded limits: a pattern takes every client that comes. */
  #prune(unseen: ReadonlySet<string>, nowMs: number): void {
    for (const [key, limit] of this.#limits) {
      if (!limit.isKept && limit.record === null) this.#limits.delete(key);
      else if (!unseen.has(entityKeyOf(limit.entity))) limit.unseenSinceMs = null;
      else limit.unseenSinceMs ??= nowMs;
    }
    for (const [key, ms] of this.#alteredMs) if (nowMs - ms > ALTERED_KEPT_MS) this.#alteredMs.delete(key);
  }

  /**
   * Puts back limits without a quota, or of long unseen entities. Kafka gets its old value first; the record goes once
   * that value is found.
   */
  #putBack(unlimited: ReadonlySet<string>, nowMs: number): KeeperEffect[] {
    const gone = [...this.#limits].filter(([key, { record, unseenSinceMs }]) => {
      return record !== null && (unlimited.has(key) || nowMs - (unseenSinceMs ?? nowMs) >= UNSEEN_MS);
    });
    const alterations = gone.flatMap(([, { entity, name, original, isToPutBack }]): Alteration[] => {
      return isToPutBack ? [{ entity, name, value: original }] : [];
    });
    const removed = gone.flatMap(([key, { isToPutBack }]) =>
      isToPutBack ? [] : [{ key: limitRecordKey(key), record: null }],
    );
    for (const { entity } of alterations) this.#alteredMs.set(entityKeyOf(entity), nowMs);
    return [
      ...alterations.map(({ entity, name, value }) => {
        const facts = { entity: entityText(entity), quota: name, value };
        return log('info', 'a quota is given back: Kafka gets what was there before', facts);
      }),
      ...(alterations.length > 0 ? [{ kind: 'alter', alterations } as const] : []),
      ...(removed.length > 0 ? [append(removed)] : []),
    ];
  }

  #sign(nowMs: number, isLeaving: boolean): KeptRecord {
    const { id, life } = this.#settings;
    const sequence = ++this.#sequence;
    this.election.noteAppended(sequence, nowMs);
    const record = { kind: 'keeper', id, life, sequence, stamp: this.#stamp, isLeaving } as const;
    return { key: keeperRecordKey(id), record };
  }

  /** Removes dead keepers' records: ids change with every deployment. */
  #forgetKeepers(nowMs: number): KeeperEffect[] {
    const gone = this.election.silentFor(SILENT_KEEPER_MS, nowMs);
    return gone.length === 0 ? [] : [append(gone.map((id) => ({ key: keeperRecordKey(id), record: null })))];
  }

  #tellElection(nowMs: number): KeeperEffect[] {
    const { isWriter, keepers, writer } = this.election;
    const effects: KeeperEffect[] = [];
    if (isWriter !== this.#wasWriter) {
      this.#wasWriter = isWriter;
      const facts = { writer: writer?.id, term: writer?.term };
      effects.push(log('info', isWriter ? 'this keeper writes the quotas' : 'another keeper writes the quotas', facts));
    }
    for (const id of this.election.alive(nowMs)) {
      const other = keepers.get(id);
      if (other === undefined || id === this.#settings.id) continue;
      const differs = other.stamp !== this.#stamp;
      const facts = { keeper: id, effect: 'only the writer’s configuration counts' };
      effects.push(...this.#tellOnce(differs, `stamp ${id}`, 'a keeper has other entities or quotas', facts));
    }
    return effects;
  }

  /**
   * Returns the markers that make clients visible: Kafka reports none without a quota of the kind. A quota of
   * `<default>` would limit everybody.
   */
  #neededMarkers(markers: readonly Marker[], described: readonly DescribedQuota[] | null): LimitSpec[] {
    const needed = markers.filter(({ entity, name }) => {
      const isOurs = (this.#limits.get(limitKeyOf(entity, name))?.record ?? null) !== null;
      return isOurs || (described !== null && !described.some((each) => each.name === name));
    });
    return needed.map((marker) => ({ ...marker, quota: MARKER_BYTES_PER_SECOND, group: MARKERS }));
  }

  #compare(described: readonly DescribedQuota[], nowMs: number): KeeperEffect[] {
    const values = new Map(described.map(({ entity, name, value }) => [limitKeyOf(entity, name), value]));
    return [...this.#limits].flatMap(([key, limit]) => {
      const found = values.get(key) ?? null;
      if (!this.election.isWriter || !limit.isKept) {
        limit.look(found);
        return [];
      }
      const finding = limit.compare(found, nowMs - this.#alteredMsOf(limit));
      return finding === null ? [] : [this.#tellFinding(finding, limit)];
    });
  }

  #tellFinding(finding: LimitFinding, limit: LimitState): KeeperEffect {
    const { entity, name, found, record, wasOurs } = limit;
    const facts = { entity: entityText(entity), quota: name, found, written: record?.value ?? null };
    if (wasOurs || record !== null) this.counts.foreignChanges++;
    if (finding === 'removed') return log('warn', 'a quota was removed by somebody else, and is written again', facts);
    const { foreignChanges, adoptsAtStart } = this.#settings;
    if (foreignChanges === 'adopt' || (adoptsAtStart && !wasOurs)) {
      limit.adopt();
      return log('warn', 'a quota was set by somebody else, and is taken over', facts);
    }
    const remedy =
      'start with --adopt to take it over, or remove it from Kafka; remove it from kafkaQuotas.entities to keep it';
    return log('warn', 'a quota was set by somebody else, and is left alone', { ...facts, remedy });
  }

  /** Plans changes; the log gets them first. */
  #plan(specs: readonly LimitSpec[], nowMs: number): KeeperEffect[] {
    const { id, life } = this.#settings;
    const term = this.election.writer?.term ?? 0;
    const records: { key: string; record: LimitRecord }[] = [];
    const plan = new Plan(specs);
    for (const [key, limit] of this.#limits) {
      const spec = limit.isKept ? plan.byKey.get(key) : undefined;
      if (spec === undefined || !limit.isClear) continue;
      const value = this.#valueOf(spec, limit, plan, nowMs);
      if (value === null) continue;
      limit.wanted = null;
      const { entity, name } = spec;
      const record = { kind: 'limit', term, id, life, entity, name, value, ...limit.inheritance(term) } as const;
      records.push({ key: limitRecordKey(key), record });
    }
    return records.length === 0 ? [] : [append(records)];
  }

  #valueOf(spec: LimitSpec, limit: LimitState, plan: Plan, nowMs: number): number | null {
    const { found, record } = limit;
    // The log's value has not reached Kafka, or another value of a keeper stands there.
    const isAmiss = record !== null && found !== record.value;
    if (spec.group === MARKERS) return found === null || isAmiss ? spec.quota : null;
    if (found === null && !this.#isVisible(spec, nowMs)) return null;
    const next = plan.level(spec, found, (sharing) => {
      return nextWaterLevel({ quota: spec.quota, inForce: found, sharers: this.#sharersOf(spec, sharing, nowMs) });
    });
    return next ?? (isAmiss ? record.value : null);
  }

  /** Tests if the entity was seen or has waited long enough. */
  #isVisible({ entity, name }: LimitSpec, nowMs: number): boolean {
    return this.exporters.hasSeen(entity, name) || nowMs - (this.#mayWriteSinceMs ?? nowMs) >= BLIND_AFTER_MS;
  }

  /** @param sharing specs of one group and quota, this one included */
  #sharersOf({ entity: own, name }: LimitSpec, sharing: readonly LimitSpec[], nowMs: number) {
    const readingsOf = (entity: Entity) => this.exporters.readingsOf(entity, name, nowMs);
    if (sharing.length > 1) {
      return [sharing.flatMap(({ entity }) => this.#entitiesOf(entity, name).flatMap(readingsOf))];
    }
    const sharers = this.#entitiesOf(own, name).map(readingsOf);
    return sharers.length > 0 ? sharers : [readingsOf(own)];
  }

  /** Lists the entities under a quota; a default's are those without their own. */
  #entitiesOf(entity: Entity, name: QuotaName): Entity[] {
    const found = this.exporters.entitiesOf(entity, name);
    return isDefault(entity) ? found.filter((each) => !this.#hasOwn(each, name)) : found;
  }

  #hasOwn(entity: Entity, name: QuotaName): boolean {
    return (this.#limits.get(limitKeyOf(entity, name))?.found ?? null) !== null;
  }

  /** Sends values read back, while permitted: at most a change per entity and second. */
  #send(nowMs: number): KeeperEffect[] {
    const ready = [...this.#limits.values()].filter(({ wanted }) => wanted !== null);
    if (ready.length === 0) return [];
    if (!this.election.mayWrite(nowMs)) {
      for (const limit of ready) limit.wanted = null;
      return [];
    }
    const dueMs = (limit: LimitState) => this.#alteredMsOf(limit) + ALTERED_EVERY_MS;
    const due = ready.filter((limit) => dueMs(limit) <= nowMs);
    const later = ready.filter((limit) => dueMs(limit) > nowMs).map((limit) => dueMs(limit) - nowMs);
    const alterations = due.map(({ entity, name, wanted: value }): Alteration => ({ entity, name, value }));
    for (const limit of due) {
      limit.wanted = null;
      this.#alteredMs.set(entityKeyOf(limit.entity), nowMs);
    }
    return [
      ...(alterations.length > 0 ? [{ kind: 'alter', alterations } as const] : []),
      ...(later.length > 0 ? [{ kind: 'wake', inMs: Math.min(...later) } as const] : []),
    ];
  }

  #alteredMsOf({ entity }: LimitState): number {
    return this.#alteredMs.get(entityKeyOf(entity)) ?? -Infinity;
  }

  #altered({ failures, count }: Extract<KeeperEvent, { kind: 'altered' }>): KeeperEffect[] {
    this.counts.alterations += count - failures.length;
    this.counts.alterationsFailed += failures.length;
    const failing = new Map(failures.map((failure) => [entityKeyOf(failure.entity), failure]));
    for (const key of this.#told)
      if (key.startsWith(ALTER) && !failing.has(key.slice(ALTER.length))) this.#told.delete(key);
    return [...failing].flatMap(([key, { entity, reason }]) => {
      return this.#tellOnce(true, ALTER + key, 'Kafka has not taken a quota', { entity: entityText(entity), reason });
    });
  }

  /** Logs a state once, until it has ended. */
  #tellOnce(isSo: boolean, key: string, message: string, facts: Readonly<Record<string, unknown>>): KeeperEffect[] {
    const wasTold = this.#told.has(key);
    if (!isSo) this.#told.delete(key);
    else this.#told.add(key);
    return isSo && !wasTold ? [log('warn', message, facts)] : [];
  }
}

/** Indexes a round's specs by limit and by shared quota. Keeps computed values. */
class Plan {
  readonly byKey: ReadonlyMap<string, LimitSpec>;
  readonly #sharing = new Map<string, LimitSpec[]>();
  readonly #levels = new Map<string, number | null>();

  constructor(specs: readonly LimitSpec[]) {
    this.byKey = new Map(specs.map((spec) => [limitKeyOf(spec.entity, spec.name), spec]));
    for (const spec of specs) {
      const key = sharingKeyOf(spec);
      const sharing = this.#sharing.get(key) ?? [];
      sharing.push(spec);
      this.#sharing.set(key, sharing);
    }
  }

  /** Returns the next value; entities of one group share few. */
  level(spec: LimitSpec, inForce: number | null, compute: (sharing: readonly LimitSpec[]) => number | null) {
    const key = sharingKeyOf(spec);
    const sharing = this.#sharing.get(key) ?? [spec];
    if (sharing.length === 1) return compute(sharing);
    const known = this.#levels.get(`${key} ${inForce}`);
    if (known !== undefined) return known;
    const level = compute(sharing);
    this.#levels.set(`${key} ${inForce}`, level);
    return level;
  }
}

function sharingKeyOf({ group, name }: LimitSpec): string {
  return `${name} ${group}`;
}

/** Group of markers; real names begin with a letter or digit. */
const MARKERS = '*';
const NONE: ReadonlySet<string> = new Set();
const ALTER = 'alter ';

/** Hashes a configuration, to find keepers with another one. */
function stampOf(limits: readonly LimitSpec[]): string {
  const lines = limits.map(({ entity, name, quota, group }) => `${limitKeyOf(entity, name)} ${quota} ${group}`).sort();
  let hash = 5381;
  for (const letter of lines.join('\n')) hash = (Math.imul(hash, 33) ^ (letter.codePointAt(0) as number)) >>> 0;
  return hash.toString(36);
}

function append(records: readonly KeptRecord[]): KeeperEffect {
  return { kind: 'append', records };
}
