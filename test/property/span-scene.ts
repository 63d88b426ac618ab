import { vi } from 'vitest';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { GroupConfig } from '../../src/config/resolved/resolved-config.js';
import { BYTES, laneOf, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { Amounts, Batch, Reservation, Where } from '../../src/node/api/decision.js';
import { createMemoryLog } from '../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../whole-node.js';
import { SpanLedger } from './span-ledger.js';

const NONE = Infinity;
const PER_CLIENT = 60;
const PER_TOPIC = 90;
const NODE = 250;
const CLIENTS = ['', 'c', 'd'];
const TOPICS = ['', 't'];

export type LimiterChange = { readonly limiter: 'bucket' | 'window'; readonly windowMs: number };

interface Held {
  readonly end: (used: number) => void;
  readonly amount: number;
}

/**
 * A node in virtual time that is never started: its shares are what the test sets. It has two groups, and a scope that
 * is attached to both, with limits of clients, topics and the node beside them.
 */
export class SpanScene {
  readonly node: WholeNode;
  /** Per limit what it let in: `a`, `b`, `a/client/c`, `node`, … */
  readonly ledgers = new Map<string, SpanLedger>();
  readonly held: Held[] = [];
  readonly #limits = [
    { perSecond: 0, depth: 0 },
    { perSecond: 0, depth: 0 },
  ];
  readonly #beganMs = Date.now();

  constructor() {
    const limits = { perClient: { publish: { messagesPerSecond: PER_CLIENT } } };
    const group = { maxRequest: { messages: 1000 } };
    const groups = {
      a: { ...group, ...limits, perTopic: { publish: { messagesPerSecond: PER_TOPIC } } },
      b: { ...group, topics: 'even' },
    };
    const scopes = { acme: 'b', 'acme/orders': { group: 'a', andBroader: true } };
    const own = { publish: { messagesPerSecond: NODE } };
    const raw = { cluster: 'c', node: 'n', topic: 'memory', limits: own, attachments: { scopes }, groups };
    const config = resolveConfig(raw, { source: '(test)' });
    const topic = new MemoryTopic(createMemoryLog());
    const clock = () => this.nowMs;
    this.node = new WholeNode({ config, topic, telemetry: { log: () => {} }, version: '0', nonce: 1, clock });
    for (const at of [0, 1]) {
      this.node.limiter.setLimit(laneOf(at, 0), BYTES, NONE, NONE, 0);
      this.node.limiter.validUntilMs.set(laneOf(at, 0), NONE);
      this.setLimit(at, 100, 20);
    }
  }

  get nowMs(): number {
    return Date.now() - this.#beganMs;
  }

  async pass(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    this.node.gate.keep(this.nowMs);
  }

  close(): void {
    this.node.gate.close();
  }

  setLimit(group: number, perSecond: number, depth: number): void {
    this.#limits[group] = { perSecond, depth };
    const windowMs = this.#windowMs(group);
    const most = windowMs === 0 ? depth : Math.max(1, (perSecond * windowMs) / 1000);
    this.node.limiter.setLimit(laneOf(group, 0), MESSAGES, perSecond, most, this.nowMs);
    this.ledger(this.#nameOf(group)).limited(this.nowMs, perSecond, windowMs === 0 ? most : 2 * most);
  }

  /** Applies a new limit as a reload does. */
  change(group: number, changed: Partial<GroupConfig>): void {
    this.node.groups.define({ ...this.node.groups.at(group), ...changed });
    this.node.gate.groupChanged(group);
    const { perSecond, depth } = this.#limits[group];
    this.setLimit(group, perSecond, depth);
  }

  whereOf(index: number): Where {
    return ['a', 'b', { tenant: 'acme', namespace: 'orders' }][index];
  }

  originOf(index: number): { readonly client: string; readonly topic: string } {
    return { client: CLIENTS[index % 3], topic: TOPICS[index % 2] };
  }

  acquire(where: number, from: number, messages: number, atMost: boolean): void {
    const decision = this.node.gate.tryAcquire(this.whereOf(where), { messages }, { ...this.originOf(from), atMost });
    if (decision.granted) this.#admitted(where, from, decision.messages ?? messages);
  }

  wait(where: number, from: number, messages: number, waitMs: number): void {
    const waiting = this.node.acquire(this.whereOf(where), { messages }, { ...this.originOf(from), waitMs });
    void waiting.then((decision) => {
      if (decision.granted) this.#admitted(where, from, messages);
    });
  }

  reserve(where: number, from: number, messages: number): void {
    const given = this.node.reserve(this.whereOf(where), { messages }, this.originOf(from));
    if (!given.granted) return;
    const entries = this.#admitted(where, from, messages);
    this.held.push({ amount: messages, end: (used) => this.#ended(given, entries, messages, used) });
  }

  take(where: number, from: number, messages: number, waitMs: number): void {
    const taking = this.node.takeBatch(this.whereOf(where), { messages }, { ...this.originOf(from), waitMs });
    void taking.then((given) => {
      if (!given.granted) return;
      const entries = this.#admitted(where, from, given.messages);
      this.held.push({ amount: given.messages, end: (used) => this.#handedBack(given, entries, used) });
    });
  }

  /** Work that cannot be refused: charged, and not what the law is about. */
  consume(where: number, from: number, messages: number, isImmediate: boolean): void {
    const amounts: Amounts = { messages };
    if (isImmediate) this.node.gate.passBy(this.whereOf(where), amounts, this.originOf(from));
    else this.node.consume(this.whereOf(where), amounts, this.originOf(from));
  }

  ledger(name: string): SpanLedger {
    const known = this.ledgers.get(name);
    if (known !== undefined) return known;
    const ledger = new SpanLedger();
    this.ledgers.set(name, ledger);
    if (name.includes('/')) {
      const perSecond = name.includes('/client/') ? PER_CLIENT : PER_TOPIC;
      ledger.limited(0, perSecond, Math.min(20, perSecond / 4));
    }
    // The node's own depth is 20 pieces of work at least.
    if (name === 'node') ledger.limited(0, NODE, Math.max(20, NODE / 10));
    return ledger;
  }

  #ended(given: Reservation, entries: readonly { amount: number }[], messages: number, used: number): void {
    if (used === 0) given.cancel();
    else given.commit({ messages: used });
    for (const entry of entries) entry.amount = Math.min(used, messages);
  }

  /** What is refused counts as used in full. */
  #handedBack(given: Batch, entries: readonly { amount: number }[], used: number): void {
    try {
      given.refund({ messages: given.messages - Math.min(used, given.messages) });
    } catch {
      return;
    }
    for (const entry of entries) entry.amount = Math.min(used, given.messages);
  }

  #admitted(where: number, from: number, amount: number): readonly { amount: number }[] {
    const { client, topic } = this.originOf(from);
    const names = where === 1 ? ['b', 'node'] : ['a', `a/client/${client}`, `a/topic/${topic}`, 'node'];
    if (where === 2) names.push('b');
    return names.map((name) => this.ledger(name).admitted(this.nowMs, amount));
  }

  #windowMs(group: number): number {
    const { limiter, windowMs } = this.node.groups.at(group);
    return limiter === 'window' ? windowMs : 0;
  }

  #nameOf(group: number): string {
    return group === 0 ? 'a' : 'b';
  }
}
