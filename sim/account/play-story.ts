import { messageOf, QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import type { Decision } from '../../src/node/api/decision.js';
import type { Grant } from '../oracle/account-ledger.js';
import { ProcessRecord } from '../oracle/process-record.js';
import { checkTokens } from '../oracle/token-law.js';
import { readersOf } from '../oracle/views.js';
import { AccountCluster, type Member } from './account-cluster.js';
import type { Act, Story } from './story.js';
import type { ToldBucket } from './told-bucket.js';
import { isInPieces, perSecondOf } from './written-bucket.js';

/** Broken promise. */
export interface Broken {
  readonly promise: 'account' | 'starts' | 'rest' | 'back' | 'same tokens' | 'no error';
  readonly bucket: string;
  /** Tokens above the bound in depths; 0 = nothing to count. */
  readonly depths: number;
  readonly says: string;
}

export interface Played {
  readonly broken: readonly Broken[];
  readonly granted: number;
  /** Most granted in a span beyond quota and allowance, in depths. */
  readonly mostDepths: number;
  readonly probes: number;
}

/** Plays a story; judges grants once all reservations are settled. */
export async function playStory(story: Story): Promise<Played> {
  const play = new Play(story);
  await play.pass(JOIN_MS);
  for (const act of story.acts) await play.do(act);
  await play.pass(SETTLED_MS);
  return play.played();
}

class Play {
  readonly #cluster: AccountCluster;
  readonly #broken = new Map<string, Broken>();
  readonly #records = new Map<Member, ProcessRecord>();
  #probes = 0;

  constructor(story: Story) {
    this.#cluster = new AccountCluster(story);
  }

  played(): Played {
    let mostDepths = 0;
    for (const { name, ledger } of this.#cluster.told) {
      const { excess, fromMs, untilMs, depth } = ledger.worst();
      mostDepths = Math.max(mostDepths, (excess + 3 * depth) / depth);
      if (excess <= TOKEN_ERROR) continue;
      const span = `${(fromMs / 1000).toFixed(3)}–${(untilMs / 1000).toFixed(3)} s`;
      const depths = excess / depth;
      const says = `${excess.toFixed(1)} (${depths.toFixed(2)} depths of ${depth}) above the bound within ${span}`;
      this.#fail({ promise: 'account', bucket: name, depths, says });
    }
    const granted = this.#cluster.told.reduce((sum, { ledger }) => sum + ledger.total, 0);
    return { broken: [...this.#broken.values()], granted, mostDepths, probes: this.#probes };
  }

  async pass(ms: number): Promise<void> {
    const { queue } = this.#cluster;
    const untilMs = queue.nowMs + ms;
    while (queue.nowMs < untilMs) {
      // Waiting promises are answered between two events.
      const stepMs = this.#isAwaited ? PROMISES_EVERY_MS : LOOK_EVERY_MS;
      queue.runUntil(Math.min(untilMs, queue.nowMs + stepMs));
      await this.#settle();
    }
    this.#checkTokens();
  }

  async do(act: Act): Promise<void> {
    const cluster = this.#cluster;
    if (act.act === 'pass') await this.pass(act.ms);
    else if (act.act === 'start') cluster.startNew(act.compacted);
    else if (act.act === 'deploy') this.#deploy(act);
    else if (act.act === 'night') await this.#night(act);
    else if (act.act === 'lose-log') cluster.loseLog();
    else if (act.act === 'limit') this.#limit(act);
    else if (act.act === 'leave' || act.act === 'kill') {
      const member = pick(cluster.members, act.at);
      if (member === undefined) return;
      if (act.act === 'leave') cluster.leave(member);
      else cluster.kill(member);
      if (act.backMs !== null) cluster.later(act.backMs, () => cluster.start(member.name, act.compacted));
    } else await this.#call(act);
  }

  async #call(act: Extract<Act, { readonly of: number }>): Promise<void> {
    const told = pick(this.#cluster.told, act.of) as ToldBucket;
    if (act.act === 'move') return this.#move(act, told);
    if (act.act === 'probe') return this.#probe(act, told);
    const member = pick(this.#cluster.members, act.at);
    if (member?.node.isReady !== true) return;
    told.askedBy.add(member);
    if (act.act === 'cancel') return this.#cancel(member, told, act);
    const most = this.#mostAtRest(member, told);
    told.askedMs = this.#cluster.nowMs;
    if (act.act === 'ask') {
      for (let time = 0; time < act.times; time++) if (!this.#ask(member, told, amountOf(told, act.part))) return;
    } else if (act.act === 'drain') {
      const members = act.isEverywhere ? this.#cluster.members : [member];
      let got = 0;
      for (const one of members) if (one.node.isReady) got += this.#drain(one, told, act.isPiecewise);
      if (members.length === 1 && got > most + TOKEN_ERROR) this.#failAtRest(member, told, got, most);
    } else if (act.act === 'hoard') await this.#hoard(member, told, act);
    else if (act.act === 'wait') this.#wait(member, told, amountOf(told, act.part), act.waitMs);
    else if (act.act === 'reserve') this.#reserve(member, told, act);
    else if (act.act === 'take') this.#take(member, told, act);
    else {
      const messages = amountOf(told, act.part);
      const { gate } = member.node;
      this.#try(told, () => {
        if (act.isRequested) gate.passBy(told.name, { messages });
        else gate.consume(told.name, { messages });
        told.servedBy.add(member);
        told.ledger.consumed(this.#cluster.nowMs, messages);
      });
    }
    await this.#settle();
  }

  #granted(member: Member, told: ToldBucket, messages: number, atMs = this.#cluster.nowMs): Grant {
    told.servedBy.add(member);
    return told.granted(atMs, messages, member, this.#cluster.isStarter(member));
  }

  #ask(member: Member, told: ToldBucket, messages: number): boolean {
    told.askedBy.add(member);
    return this.#try(told, () => {
      const { granted } = member.node.gate.tryAcquire(told.name, { messages });
      if (granted) this.#granted(member, told, messages);
      return granted;
    });
  }

  /** Takes until refused: one by one, or any part of all. */
  #drain(member: Member, told: ToldBucket, isPiecewise: boolean): number {
    const most = 4 * told.depth;
    let got = 0;
    while (got < most) {
      const taken = isPiecewise ? Number(this.#ask(member, told, 1)) : this.#askAtMost(member, told);
      if (taken === 0) break;
      got += taken;
    }
    return got;
  }

  /** Returns the most that a node may grant of a resting group. Infinity = somebody used it lately. */
  #mostAtRest(member: Member, told: ToldBucket): number {
    const isExact = !told.written.isKey && !told.isVague && isInPieces(told.written, 1);
    if (!isExact || !this.#isAtRest(told)) return Infinity;
    const { members, nowMs, deliveryMs } = this.#cluster;
    const known = members.filter((one) => one === member || nowMs - one.readyMs >= 2 * deliveryMs);
    const others = known.filter((one) => one !== member);
    return Math.max(0, told.ledger.heldAtMost(nowMs) + told.ledger.unsaidBy(others, known.length, nowMs));
  }

  #isAtRest(told: ToldBucket): boolean {
    const { nowMs, deliveryMs, troubledMs } = this.#cluster;
    const usedMs = Math.max(told.askedMs, told.ledger.grantedMs, told.backMs);
    return nowMs - usedMs >= REST_MS && nowMs - Math.max(troubledMs, told.limitedMs) >= 2 * deliveryMs;
  }

  #failAtRest({ name }: Member, told: ToldBucket, got: number, most: number): void {
    const says = `${name} grants ${got} of ${most.toFixed(1)} at ${(this.#cluster.nowMs / 1000).toFixed(3)} s`;
    this.#fail({ promise: 'rest', bucket: told.name, depths: (got - most) / told.depth, says });
  }

  #askAtMost(member: Member, told: ToldBucket): number {
    const wanted = Math.ceil(told.depth);
    told.askedBy.add(member);
    const taken = this.#try(told, () => {
      const decision = member.node.gate.tryAcquire(told.name, { messages: wanted }, { atMost: true });
      if (!decision.granted) return 0;
      const messages = decision.messages ?? wanted;
      this.#granted(member, told, messages);
      return messages;
    });
    return taken || 0;
  }

  async #move(act: Extract<Act, { readonly act: 'move' }>, told: ToldBucket): Promise<void> {
    for (let time = 0; time < act.times; time++) {
      const { members } = this.#cluster;
      const first = Math.floor(act.at * members.length);
      const member = members[(first + time) % members.length];
      told.askedMs = this.#cluster.nowMs;
      if (member?.node.isReady === true) {
        for (let left = amountOf(told, act.part); left > 0; left--) if (!this.#ask(member, told, 1)) break;
      }
      await this.pass(act.everyMs);
    }
  }

  #wait(member: Member, told: ToldBucket, messages: number, waitMs: number): void {
    const waited = this.#watch(member.node);
    this.#await(
      told,
      () => member.node.gate.acquire(told.name, { messages }, { waitMs }),
      ({ granted }: Decision) => {
        if (granted) this.#granted(member, told, messages, waited());
      },
    );
  }

  #reserve(member: Member, told: ToldBucket, { part, heldMs, used }: { part: number; heldMs: number; used: number }) {
    const { node } = member;
    const messages = amountOf(told, part);
    this.#try(told, () => {
      const given = node.gate.reserve(told.name, { messages });
      if (!given.granted) return;
      const grant = this.#granted(member, told, messages);
      const actual = Math.floor(used * messages);
      this.#cluster.queue.after(heldMs, () => {
        if (!node.isOpen) return;
        this.#try(told, () => (actual === 0 ? given.cancel() : given.commit({ messages: actual })));
        // The missing part is charged, and cannot be refused.
        if (actual > messages) told.ledger.consumed(this.#cluster.nowMs, actual - messages);
        grant.amount = Math.min(actual, messages);
        told.backMs = this.#cluster.nowMs;
      });
    });
  }

  async #hoard(
    member: Member,
    told: ToldBucket,
    { part, everyMs, times }: Extract<Act, { readonly act: 'hoard' }>,
  ): Promise<void> {
    for (let left = times; left > 0; left--) {
      const heldMs = left * everyMs + (times - left) * CANCEL_EVERY_MS;
      this.#reserve(member, told, { part, heldMs, used: 0 });
      await this.pass(everyMs);
    }
    for (let left = times; left > 0 && member.node.isReady; left--) {
      this.#drain(member, told, true);
      told.askedMs = this.#cluster.nowMs;
      await this.pass(CANCEL_EVERY_MS);
    }
  }

  /** Reserves, takes what is left, cancels, and must get what came back. */
  async #cancel(member: Member, told: ToldBucket, act: Extract<Act, { readonly act: 'cancel' }>): Promise<void> {
    const { node } = member;
    const messages = amountOf(told, act.part);
    const begunMs = this.#cluster.nowMs;
    const isFull = this.#isAtRest(told) && told.ledger.centralAt(begunMs) >= FULL * told.depth;
    told.askedMs = begunMs;
    const given = this.#try(told, () => node.gate.reserve(told.name, { messages }));
    if (given === false || !given.granted) return;
    const grant = this.#granted(member, told, messages);
    this.#drain(member, told, true);
    await this.pass(act.heldMs);
    if (!node.isOpen) return;
    const { sampleIntervalMs } = this.#cluster.config;
    const level = told.ledger.centralAt(this.#cluster.nowMs);
    this.#try(told, () => given.cancel());
    grant.amount = 0;
    told.backMs = this.#cluster.nowMs;
    await this.pass(2 * sampleIntervalMs);
    if (!node.isReady || this.#cluster.troubledMs >= begunMs || told.limitedMs >= begunMs) return;
    const { isNear } = this.#cluster;
    const nodes = this.#cluster.countedAtMost(member);
    if (!isFull || told.written.isKey || !isNear || nodes > TOGETHER) return;
    if (told.ledger.grantedMs > begunMs || level < 0 || level + messages > told.depth) return;
    this.#probes++;
    const others = this.#cluster.members.filter((one) => one !== member);
    const due = messages - setPointOf(told) - told.ledger.lackingBy(others, nodes, begunMs) - 1;
    const got = await this.#takeBack(member, told, messages, due);
    if (got >= due || this.#cluster.troubledMs >= begunMs || told.limitedMs >= begunMs) return;
    const says = `${member.name} grants ${got} of ${messages} at ${(this.#cluster.nowMs / 1000).toFixed(3)} s`;
    this.#fail({ promise: 'back', bucket: told.name, depths: (messages - got) / told.depth, says });
  }

  /** Takes what came back: in parts where other nodes use the bucket as well. A node that stops is not judged. */
  async #takeBack(member: Member, told: ToldBucket, messages: number, due: number): Promise<number> {
    const cluster = this.#cluster;
    const untilMs = cluster.nowMs + (told.askedBy.size > 1 ? BACK_BESIDE_OTHERS_MS : 0);
    for (let got = 0; ; await this.pass(2 * cluster.config.sampleIntervalMs)) {
      if (!member.node.isReady) return messages;
      while (got < messages && this.#ask(member, told, 1)) got++;
      told.askedMs = cluster.nowMs;
      if (got >= due || cluster.nowMs >= untilMs) return got;
    }
  }

  #take(member: Member, told: ToldBucket, act: Extract<Act, { readonly act: 'take' }>): void {
    const { node } = member;
    const messages = amountOf(told, act.part);
    const waited = this.#watch(node);
    this.#await(
      told,
      () => node.gate.batches.take(told.name, { messages }, { waitMs: act.waitMs }),
      (batch) => {
        if (!batch.granted) return;
        const grant = this.#granted(member, told, batch.messages, waited());
        const unused = Math.max(0, Math.ceil((1 - act.used) * batch.messages));
        this.#cluster.queue.after(act.heldMs, () => {
          if (!node.isOpen || !this.#hasRefunded(told, () => batch.refund({ messages: unused }))) return;
          grant.amount -= unused;
          told.backMs = this.#cluster.nowMs;
        });
      },
    );
  }

  /** Tests for a refund; a batch that is over is used. */
  #hasRefunded(told: ToldBucket, refund: () => void): boolean {
    try {
      refund();
      return true;
    } catch (error) {
      if (!(error instanceof QuotameshError && error.code === 'BATCH_ENDED')) this.#thrown(told, error);
      return false;
    }
  }

  /**
   * Probes a rested bucket: one message where a central bucket would hold half its depth, or all where it is full and
   * at most three nodes count.
   */
  #probe({ at, restMs, isWhole }: Extract<Act, { readonly act: 'probe' }>, told: ToldBucket): void {
    const { nowMs, deliveryMs, isNear, members, troubledMs } = this.#cluster;
    const member = pick(members, at);
    if (member === undefined || !(nowMs - member.readyMs >= 2 * deliveryMs)) return;
    // A request that waits goes before it.
    // Reports name the use before for two slow spans.
    const usedForMs = isWhole ? restMs + 2 * deliveryMs : restMs;
    if (told.waiting > 0 || nowMs - told.askedMs < usedForMs || nowMs - told.backMs < toldMs(told)) return;
    if (nowMs - Math.max(troubledMs, told.limitedMs) < deliveryMs || nowMs < told.lackingMs) return;
    const level = told.ledger.centralAt(nowMs);
    const nodes = this.#cluster.countedAtMost(member);
    // Silent spending of a key is back later than in one bucket.
    const lacksMs = told.written.isKey ? (1000 * SILENT * told.depth) / perSecondOf(told.written) : 0;
    const wasFull = told.ledger.centralAt(nowMs - lacksMs) >= FULL * told.depth;
    const lacks = this.#cluster.lacksExpected(member, told);
    const isFull = isNear && !lacks && wasFull && level >= FULL * told.depth && nodes <= TOGETHER;
    if (isWhole ? !isFull : level < told.depth / 2 + 1) return;
    this.#probes++;
    told.askedMs = nowMs;
    const silent = told.written.isKey ? SILENT * told.depth : 0;
    const wanted = isWhole ? Math.floor(FULL * FULL * told.depth - silent) : 1;
    let got = 0;
    while (got < wanted && this.#ask(member, told, 1)) got++;
    if (got === wanted) return;
    const says = `${member.name} grants ${got} of ${level.toFixed(1)} at ${(nowMs / 1000).toFixed(3)} s`;
    this.#fail({ promise: 'starts', bucket: told.name, depths: (wanted - got) / told.depth, says });
  }

  #deploy({ everyMs, awayMs, compacted }: Extract<Act, { readonly act: 'deploy' }>): void {
    const cluster = this.#cluster;
    cluster.members.forEach((member, at) => {
      cluster.later(at * everyMs, () => {
        if (!cluster.members.includes(member)) return;
        cluster.leave(member);
        cluster.later(awayMs, () => cluster.start(member.name, compacted));
      });
    });
  }

  async #night({ ms, isKilled, isLogLost, compacted }: Extract<Act, { readonly act: 'night' }>): Promise<void> {
    const cluster = this.#cluster;
    const names = cluster.members.map(({ name }) => name);
    cluster.endAll((member) => (isKilled ? cluster.kill(member) : cluster.leave(member)));
    // On its way to the log.
    await this.pass(FAREWELL_MS);
    if (isLogLost) cluster.loseLog();
    await this.pass(ms);
    for (const name of names) cluster.start(name, compacted);
  }

  #limit({ bucket, factor }: Extract<Act, { readonly act: 'limit' }>): void {
    const cluster = this.#cluster;
    const at = Math.floor(bucket * cluster.written.length);
    const written = cluster.written[at];
    if (written === undefined) return;
    const quota = Math.max(1, Math.round(written.quota * factor));
    const burst = written.burst === null ? null : Math.max(1, Math.round(written.burst * factor));
    if (quota > QUOTA_MAX || (burst ?? 0) > QUOTA_MAX) return;
    cluster.limit(at, { ...written, quota, burst });
  }

  /** Returns the end of the next call's wait; now without one. */
  #watch({ gate }: Member['node']): () => number {
    const { nowMs } = this.#cluster;
    let endedMs = Number.NaN;
    gate.watch = {
      refused: () => undefined,
      waits: () => () => {
        endedMs = this.#cluster.nowMs;
      },
    };
    return () => (Number.isNaN(endedMs) ? nowMs : endedMs);
  }

  #await<Answer>(told: ToldBucket, call: () => Promise<Answer>, answered: (answer: Answer) => void): void {
    told.waiting++;
    call()
      .then(answered, (error: unknown) => this.#thrown(told, error))
      .finally(() => {
        told.waiting--;
        told.askedMs = this.#cluster.nowMs;
      });
  }

  #try<Answer>(told: ToldBucket, call: () => Answer): Answer | false {
    try {
      return call();
    } catch (error) {
      this.#thrown(told, error);
      return false;
    }
  }

  #thrown(told: ToldBucket, error: unknown): void {
    if (error instanceof QuotameshError && error.code === 'NOT_READY') return;
    const says = messageOf(error);
    this.#fail({ promise: 'no error', bucket: told.name, depths: 0, says });
  }

  /** Tests for unanswered requests. */
  get #isAwaited(): boolean {
    return this.#cluster.told.some(({ waiting }) => waiting > 0);
  }

  async #settle(): Promise<void> {
    for (let tick = 0; this.#isAwaited && tick < TICKS; tick++) await null;
  }

  /** Checks that nodes with the same log hold the same tokens. */
  #checkTokens(): void {
    const { members, config, told, nowMs } = this.#cluster;
    for (const known of this.#records.keys()) if (!members.includes(known)) this.#records.delete(known);
    for (const member of members) {
      const { node } = member.node;
      const record = this.#records.get(member) ?? new ProcessRecord(node, member.name, 0);
      record.isServing = member.node.isReady;
      if (record.isServing && record.caughtUpLogMs === null)
        record.caughtUpLogMs = node.coordinator.log.membershipLogMs;
      this.#records.set(member, record);
    }
    // Nodes read a changed quota at different places, and differ until the bucket is full.
    const alike = told.filter(({ limitedMs }) => limitedMs === -Infinity);
    const groups = alike.map(({ name }) => ({ name }));
    for (const readers of readersOf(this.#records.values(), config.timing)) {
      checkTokens(readers, { cluster: config.cluster, groups }, (_, bucket, says) => {
        this.#fail({ promise: 'same tokens', bucket, depths: 0, says: `${(nowMs / 1000).toFixed(3)} s: ${says}` });
      });
    }
  }

  #fail(broken: Broken): void {
    const about = `${broken.promise} ${broken.bucket}`;
    if (!this.#broken.has(about)) this.#broken.set(about, broken);
  }
}

/** Picks at a part from 0 to 1; undefined = empty. */
function pick<Item>(list: readonly Item[], part: number): Item | undefined {
  return list[Math.min(list.length - 1, Math.floor(part * list.length))];
}

/** Returns the milliseconds until all know of what came back: at rates less than depth/N is not reported. */
function toldMs({ depth, written }: ToldBucket): number {
  return isInPieces(written, 1) ? BACK_MS : Math.max(BACK_MS, (1000 * depth) / perSecondOf(written));
}

/** Returns the tokens below which a busy node takes none (docs/guide/tokens.md). */
function setPointOf({ depth, written }: ToldBucket): number {
  return Math.min(0.35 * depth, perSecondOf(written));
}

function amountOf({ depth }: ToldBucket, part: number): number {
  return Math.max(1, Math.floor(part * depth));
}

/** Milliseconds until all nodes are ready and counted. */
const JOIN_MS = 3000;
/** Milliseconds, longer than any hold. */
const SETTLED_MS = 1000;
const REST_MS = 10_000;
/** Milliseconds for a look at rest, a report's gap and deliveries. */
const BACK_MS = 2000;
/** Milliseconds in which all of it comes in parts (docs/reference/promises.md). */
const BACK_BESIDE_OTHERS_MS = 1000;
const PROMISES_EVERY_MS = 100;
const LOOK_EVERY_MS = 60_000;
const FAREWELL_MS = 2000;
const CANCEL_EVERY_MS = 25;
const TICKS = 8;
/** Largest quota; deeper buckets take too long to empty. */
const QUOTA_MAX = 6000;
/** Nodes that may each take a full bucket. */
const TOGETHER = 3;
const FULL = 0.95;
/** Part of a key's depth that may lack: silent spending comes back at quota/N. */
const SILENT = 0.25;
const TOKEN_ERROR = 1e-6;
