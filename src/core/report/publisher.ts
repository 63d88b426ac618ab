import { ROWS_AT_ONCE_MAX } from '../account/constants.js';
import type { PublishedKeys } from '../account/keys/silent-use.js';
import type { LaneState } from '../account/lanes/lane-state.js';
import type { LaneTable } from '../account/lanes/lane-table.js';
import type { LinkWatch } from '../account/lanes/link-watch.js';
import { isOutdated } from '../account/share/lane-checkpoints.js';
import type { TokenBook } from '../account/share/token-book.js';
import { INCARNATIONS_MAX, incarnationCount, incarnationOf } from '../base/ids.js';
import type { Append, ReadEvent, UnpublishedUse } from '../base/protocol/events-and-effects.js';
import {
  type Author,
  backendRecordKey,
  groupStateRecordKey,
  type KeyRow,
  nodeRecordKey,
  partitionOf,
  reportRecordKey,
  type TopicRecord,
} from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import { type Incarnation, MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import type { EpochWatch } from '../log/reading/epoch-watch.js';
import type { LogReader } from '../log/reading/log-reader.js';
import { type Member, newestLife } from '../usage-map/membership.js';
import { BackendSender, type BackendWord } from './backend-sender.js';
import { FAREWELL_NODES, MOVING_BEAT_MS } from './constants/constants.js';
import { Heartbeat, type Presence } from './heartbeat.js';
import type { HiddenCeilings, RecordPlace } from './hidden-ceilings.js';
import { KeyNames } from './key-names.js';
import { type RampWord, RampWriter, type RampWriterParts } from './ramp-writer.js';
import type { Bundle, ReportBook } from './report-book.js';
import { ReportBudget } from './report-budget.js';
import { noReports, type ReportCounts, type ReportReason } from './report-reason.js';
import type { BundleContent, Reporter } from './reporter.js';

interface PublisherParts extends RampWriterParts {
  readonly hiddenCeilings: HiddenCeilings;
  readonly log: Pick<LogReader, 'nextOffset' | 'logTimes'>;
  readonly link: LinkWatch;
  readonly epochs: EpochWatch;
  readonly book: ReportBook;
  readonly reporter: Reporter;
  readonly tokens: Pick<TokenBook, 'rowOfUnpublished'>;
  readonly table: LaneTable;
  /** Takes the appends: the effects of the step under way. */
  readonly appends: Append[];
}

/** Writes this node's records: heartbeats, bundles, ceilings, farewell; numbers and times them. */
export class Publisher {
  incarnation: Incarnation = 0;
  /** Null until groups may be made by use. */
  keys: PublishedKeys | null = null;
  /** Bounds reports only, and not the first ones in a log. */
  readonly budget: ReportBudget;
  /** Reports written by this life, by reason. */
  readonly written: ReportCounts = noReports();
  readonly #settings: CoordinatorSettings;
  readonly #due: Bundle[] = [];
  readonly #parts: PublisherParts;
  readonly #heartbeat: Heartbeat;
  readonly #backends: BackendSender;
  readonly #ramps: RampWriter;
  #keyNames = new KeyNames();
  #namedMs = -Infinity;
  #sequence = 0;
  /** The last sequence that was written into another log. */
  #sequenceElsewhere = 0;
  /** Time before which no node can be suspected: signs of life and joins only postpone it. */
  #trustedUntilMs = -Infinity;

  constructor(settings: CoordinatorSettings, parts: PublisherParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.budget = new ReportBudget(settings.maxReportsPerSecond);
    this.#heartbeat = new Heartbeat(settings);
    this.#backends = new BackendSender(settings.limiting, settings.reportGapMs);
    this.#ramps = new RampWriter(parts);
  }

  /** Takes a life above all known ones of this id. Returns false if there is none. */
  beginLife(newestKnown: Incarnation): boolean {
    const count = incarnationCount(newestKnown) + 1;
    if (count > INCARNATIONS_MAX) return false;
    this.incarnation = incarnationOf(count, this.#settings.nonce);
    return true;
  }

  /** Writes due heartbeats; `all` beats on every partition now. */
  beat(nowMs: number, all: boolean): void {
    const suspected = this.#suspectsSomebody(nowMs);
    const { nodeId, version, partitions } = this.#settings;
    const { tag } = this.#parts.epochs;
    for (let partition = 0; partition < partitions; partition++) {
      const heard = this.#parts.link.isHeard(partition);
      const shareBeatMs = this.#parts.table.needsLogTime(partition) ? MOVING_BEAT_MS : Infinity;
      const movingBeatMs = Math.min(shareBeatMs, this.#ramps.beatMs[partition]);
      const claim = this.#claim(partition);
      const ownClaims = this.#parts.shares.ownClaims[partition];
      const isNews = claim !== 0 && claim !== ownClaims.newest;
      const presence = this.#presenceOn(partition);
      const isDue = this.#heartbeat.isDue(partition, { suspected, heard, movingBeatMs, isNews, presence }, nowMs);
      if (!all && !isDue) continue;
      this.#heartbeat.sent(partition, nowMs);
      const key = nodeRecordKey(this.#parts.nodeKey);
      const keys = partition === MEMBERSHIP_PARTITION ? this.#nameKeys(nowMs) : [];
      const said = {
        nodeId,
        version,
        partitions,
        ...(claim !== 0 && { pool: claim }),
        ...(tag !== 0 && { epoch: tag }),
        ...(keys.length > 0 && { keys }),
      };
      this.#append(partition, key, nowMs, (author) => ({ kind: 'node', author, ...said }));
      if (claim !== 0) ownClaims.wrote(this.#sequence, claim);
    }
  }

  #presenceOn(partition: number): Presence {
    const { membership, nodeKey } = this.#parts;
    const own = membership.get(nodeKey);
    if (partition === MEMBERSHIP_PARTITION || own === undefined || membership.on(partition).has(own)) return 'here';
    return own.state === 'alive' ? 'missing' : 'gone';
  }

  /** Returns the keys of a heartbeat. Where heartbeats follow each other quickly, not each of them has some. */
  #nameKeys(nowMs: number): KeyRow[] {
    if (this.keys === null || nowMs - this.#namedMs < this.#settings.heartbeatMs) return [];
    this.#namedMs = nowMs;
    const { table, membership } = this.#parts;
    const { cluster } = this.#settings;
    const named = { cluster, lanes: table.seats, keys: this.keys, nodes: membership.alive.length };
    return this.#keyNames.next(named, nowMs);
  }

  /**
   * Computes the number of nodes that this node divides by at least: those that it has read on a partition, itself
   * among them. All its limits follow this number by the time it is written, because its cause was read in an earlier
   * step. 0 = no group of this node divides by a pool.
   */
  #claim(partition: number): number {
    const { membership, nodeKey, table, epochs } = this.#parts;
    if (!table.agreesOnPool) return 0;
    const isMember = membership.indexOf(nodeKey, partition) !== -1;
    return Math.max(membership.on(partition).count + (isMember ? 0 : 1), epochs.nodesAtLeast);
  }

  /** Writes a buried or hidden key again, which newcomers would miss; a heartbeat in the next round. */
  sayAgain({ partition, key }: { readonly partition: number; readonly key: string }): void {
    if (key === nodeRecordKey(this.#parts.nodeKey)) this.#heartbeat.sent(partition, -Infinity);
    else this.#parts.book.markDirtyOn(partition, key);
  }

  /** Writes a ceiling again that a record under its key hides. */
  ceilingHidden(mapLane: number, read: RecordPlace, nowMs: number): void {
    this.#parts.hiddenCeilings.hide(mapLane, read, nowMs);
  }

  /** Writes again keys of a failed append: reports at once, heartbeats by heartbeat.ts. */
  appendFailed({ partition, keys }: { readonly partition: number; readonly keys: readonly string[] }): void {
    for (const key of keys) {
      if (key === nodeRecordKey(this.#parts.nodeKey)) this.#heartbeat.failed(partition);
      else this.#parts.book.markDirtyOn(partition, key);
    }
  }

  /** Writes a record again later, after the log had no room. */
  sayLater({ partition, key }: { readonly partition: number; readonly key: string }, nowMs: number): void {
    this.#parts.book.forceOn(partition, key, nowMs + this.#settings.partitionHeartbeatMs);
  }

  /**
   * Writes the farewell of a life that the log has lost: a process without the cluster's key has written over it. The
   * next process of that id would take a life that nodes which remember the lost one do not accept. After the farewell
   * it takes a life above the lost one. Newcomers do not remember the lost life, so a few nodes write at every beat,
   * and other ones each time.
   */
  sayGone(member: Member, { partition, offset }: Pick<ReadEvent, 'partition' | 'offset'>): void {
    const { nodeKey, membership, appends } = this.#parts;
    const own = membership.indexOf(nodeKey);
    if (this.incarnation === 0 || own === -1) return;
    if ((own + offset) % Math.ceil(membership.alive.length / FAREWELL_NODES) !== 0) return;
    const incarnation = newestLife(member);
    // This sequence is no news for nodes that remember the life, and does not outrank its process, should it still
    // live.
    const isKnown = partition === MEMBERSHIP_PARTITION && incarnation === member.incarnation;
    const author = { nodeKey: member.nodeKey, incarnation, sequence: isKnown ? member.sequence : 1 };
    const record = { kind: 'farewell' as const, author, nodeId: member.nodeId };
    appends.push({ partition, key: nodeRecordKey(member.nodeKey), record });
  }

  /**
   * Writes all records of this node into a log that has begun. Heartbeats come last: a node that has read a heartbeat
   * on a partition has read everything of this node there.
   */
  sayEverything(lanes: ReadonlyMap<number, LaneState>, nowMs: number): void {
    const { book, shares } = this.#parts;
    this.#sequenceElsewhere = this.#sequence;
    this.#keyNames = new KeyNames();
    for (const claims of shares.ownClaims) claims.forgetAll();
    this.#parts.hiddenCeilings.forgetAll();
    this.#backends.sayAgain(nowMs);
    this.#publishBackends(nowMs);
    this.#writeRamps(nowMs, () => true);
    for (const bundle of book.bundles) this.#publish(bundle, lanes, nowMs, 'new-log');
    this.beat(nowMs, true);
  }

  /** Tests if this node wrote a record for the present log. */
  isOfThisLog(sequence: number): boolean {
    return sequence > this.#sequenceElsewhere;
  }

  publishDue(lanes: ReadonlyMap<number, LaneState>, nowMs: number): void {
    this.#publishBackends(nowMs);
    const { book, link } = this.#parts;
    this.#writeRamps(nowMs, (partition) => link.of(partition) === 'linked');
    this.#due.length = 0;
    book.forEachDue(nowMs, (bundle) => {
      if (nowMs - bundle.publishedMs < this.#settings.reportGapMs) return;
      // A topic that is away gets heartbeats only; the bundles stay dirty and go out when it is back.
      if (link.of(bundle.partition) === 'linked') this.#due.push(bundle);
    });
    for (const bundle of this.budget.choose(this.#due, nowMs)) this.#publish(bundle, lanes, nowMs, bundle.reason);
  }

  /** Writes the health of a backend. The membership partition's log decides which one counts. */
  publishBackend(word: BackendWord, nowMs: number): void {
    this.#backends.report(word, nowMs);
    this.#publishBackends(nowMs);
  }

  #publishBackends(nowMs: number): void {
    this.#backends.sendDue(nowMs, ({ backend, zone, health }) => {
      const key = backendRecordKey(backend);
      this.#append(MEMBERSHIP_PARTITION, key, nowMs, (author) => ({ kind: 'backend', author, backend, zone, health }));
    });
  }

  #writeRamps(nowMs: number, mayWrite: (partition: number) => boolean): void {
    const write = (word: RampWord) => {
      const key = groupStateRecordKey(word.groupId, word.direction);
      this.#append(partitionOf(word.groupId, this.#settings.partitions), key, nowMs, (author) => ({
        kind: 'group-state',
        author,
        ...word,
      }));
    };
    this.#ramps.writeDue(this.#parts.table.ramped, nowMs, { mayWrite, write });
    this.#parts.hiddenCeilings.writeDue(nowMs, { mayWrite, write });
  }

  /**
   * Writes all unpublished use, the farewell, and tombstones of needless records. The farewell changes shares;
   * tombstones free the space of what nobody has to find, also of past lives.
   */
  sayFarewell(lanes: ReadonlyMap<number, LaneState>, unpublished: readonly UnpublishedUse[], nowMs: number): void {
    const { nodeKey, book, appends, membership, usageMap, log, reporter } = this.#parts;
    const { nodeId } = this.#settings;
    reporter.endAll(lanes.values(), nowMs);
    let rows = 0;
    for (const bundle of book.bundles) {
      const content = reporter.contentOf(bundle, lanes, nowMs);
      rows += content.rows.length;
      if (content.rows.length === 0 || rows > ROWS_AT_ONCE_MAX) {
        appends.push({ partition: bundle.partition, key: bundle.key, record: null });
      } else this.#write(bundle, content, nowMs, 'stop');
    }
    this.#publishUnpublished(unpublished.slice(0, Math.max(0, ROWS_AT_ONCE_MAX - rows)), nowMs);
    for (let partition = 0; partition < log.logTimes.length; partition++) {
      this.#append(partition, nodeRecordKey(nodeKey), nowMs, (author) => ({ kind: 'farewell', author, nodeId }));
    }
    const member = membership.get(nodeKey);
    if (member === undefined) return;
    for (const { partition, bundle, record } of usageMap.keysOf(member)) {
      const time = log.logTimes[partition];
      if (book.has(partition, bundle) || !isOutdated({ usageMap, membership }, record, time)) continue;
      appends.push({ partition, key: reportRecordKey(nodeKey, bundle), record: null });
    }
  }

  /** Appends unpublished use of silent keys, in bundles of their own. */
  #publishUnpublished(unpublished: readonly UnpublishedUse[], nowMs: number): void {
    const { book, log, tokens, nodeKey } = this.#parts;
    const { partitions, groupsPerRecord } = this.#settings;
    for (let partition = 0; partition < partitions; partition++) {
      const uses = unpublished.filter(({ groupId }) => partitionOf(groupId, partitions) === partition);
      const readUntilOffset = log.nextOffset(partition);
      for (let at = 0; at < uses.length; at += groupsPerRecord) {
        const published = uses.slice(at, at + groupsPerRecord).map((use) => tokens.rowOfUnpublished(use));
        const rows = published.map(({ row }) => row);
        const fullInMs = Math.max(...published.map((each) => each.fullInMs));
        const key = reportRecordKey(nodeKey, book.takeNumber(partition));
        this.written.stop++;
        this.#append(partition, key, nowMs, (author) => ({ kind: 'report', author, rows, readUntilOffset, fullInMs }));
      }
    }
  }

  #publish(bundle: Bundle, lanes: ReadonlyMap<number, LaneState>, nowMs: number, reason: ReportReason): void {
    const content = this.#parts.reporter.contentOf(bundle, lanes, nowMs);
    const wasNeverPublished = bundle.publishedMs === -Infinity;
    this.#parts.book.published(bundle, nowMs);
    if (content.rows.length > 0 || !wasNeverPublished) this.#write(bundle, content, nowMs, reason);
  }

  #write(bundle: Bundle, { rows, fullInMs }: BundleContent, nowMs: number, reason: ReportReason): void {
    const { log } = this.#parts;
    this.written[reason]++;
    this.#heartbeat.reported(bundle.partition, nowMs);
    this.#append(bundle.partition, bundle.key, nowMs, (author) => {
      return { kind: 'report', author, rows, readUntilOffset: log.nextOffset(bundle.partition), fullInMs };
    });
  }

  #append(partition: number, key: string, nowMs: number, make: (author: Author) => TopicRecord): void {
    const sequence = ++this.#sequence;
    this.#parts.link.echo.sent(partition, sequence, nowMs);
    const author = { nodeKey: this.#parts.nodeKey, incarnation: this.incarnation, sequence };
    this.#parts.appends.push({ partition, key, record: make(author) });
  }

  #suspectsSomebody(nowMs: number): boolean {
    if (nowMs <= this.#trustedUntilMs) return false;
    const { stalenessMs } = this.#settings;
    let oldestMs = nowMs;
    for (const { nodeKey, lastSignMs } of this.#parts.membership.alive) {
      if (nodeKey !== this.#parts.nodeKey && lastSignMs < oldestMs) oldestMs = lastSignMs;
    }
    this.#trustedUntilMs = oldestMs + stalenessMs;
    return nowMs > this.#trustedUntilMs;
  }
}
