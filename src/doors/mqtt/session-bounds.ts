import { Readable } from 'node:stream';
import type { SessionCounts } from './mqtt-counts.js';
import { RetainedMessages } from './retained-messages.js';
import { KEPT_BYTES, keptBytesOf, placesOf, placesOfAll } from './room-taken.js';

export interface SessionRules {
  /** Messages of QoS 1 and 2 that one session holds unacknowledged. */
  readonly maxSessionMessages: number;
  /** Bytes of all sessions (room-taken.ts); one message in three sessions counts three times. */
  readonly maxSessionBytes: number;
  /** Places of the subscriptions of all sessions and of clean clients (mqtt-broker.ts). */
  readonly maxSubscriptions: number;
  readonly maxRetainedMessages: number;
  readonly maxRetainedBytes: number;
  readonly counts: SessionCounts;
  /** Called when a bound drops something; null = a retained message. */
  readonly onFull: (bound: SessionBound, client: string | null) => void;
  /** Called when a QoS 2 message repeats, or its PUBREL is unknown: aedes answers, and publishes nothing. */
  readonly onRepeated: (packet: object) => void;
}

export type SessionBound = 'session-full' | 'subscriptions-full' | 'retained-full';

export interface StoredPacket {
  readonly topic: string;
  readonly payload: Buffer | string;
  qos?: number;
  /** Absent in a PUBREL, which takes the message id of its PUBLISH. */
  readonly brokerCounter?: number;
  readonly messageId?: number | undefined;
}

interface SessionOwner {
  readonly id: string;
}

/** Bounded part of aedes's persistence (aedes-persistence 11, in memory). */
export interface SessionStore {
  storeRetained(packet: StoredPacket): Promise<void>;
  createRetainedStreamCombi(filters: readonly string[]): Readable;
  addSubscriptions(client: SessionOwner, subscriptions: readonly { readonly topic: string }[]): Promise<void>;
  removeSubscriptions(client: SessionOwner, topics: readonly string[]): Promise<void>;
  cleanSubscriptions(client: SessionOwner): Promise<unknown>;
  outgoingEnqueueCombi(sessions: readonly { readonly clientId: string }[], packet: StoredPacket): Promise<void>;
  outgoingUpdate(client: SessionOwner, packet: StoredPacket): Promise<unknown>;
  outgoingClearMessageId(client: SessionOwner, packet: StoredPacket): Promise<StoredPacket | undefined>;
  incomingGetPacket(client: SessionOwner, packet: StoredPacket): Promise<StoredPacket>;
  incomingStorePacket(client: SessionOwner, packet: StoredPacket): Promise<void>;
  incomingDelPacket(client: SessionOwner, packet: StoredPacket): Promise<void>;
  cleanIncoming(client: SessionOwner): Promise<void>;
}

type KeptMethods = Omit<SessionStore, keyof ReceivedMethods>;

interface Held {
  readonly bytes: number;
  messageId: number | undefined;
}

interface Session {
  readonly topics: Set<string>;
  /** Messages by aedes's own number, which outlives message ids. */
  readonly held: Map<number, Held>;
  readonly numbers: Map<number, number>;
}

/**
 * Bounds what aedes keeps for clients that are away or never acknowledge. Each method is passed on to the store, and
 * its change counted beside it, because the store does not say how much it holds. Returns the retained messages, of
 * which aedes finds none.
 */
export function boundSessions(store: SessionStore, rules: SessionRules): RetainedMessages<StoredPacket> {
  const unreleased = new Unreleased(store, rules);
  const bounds = new SessionBounds(store, rules);
  Object.assign(store, bounds.methods, unreleased.methods);
  return bounds.retained;
}

class SessionBounds {
  readonly methods: KeptMethods;
  readonly retained: RetainedMessages<StoredPacket> = new RetainedMessages();
  readonly #rules: SessionRules;
  readonly #store: KeptMethods;
  readonly #sessions = new Map<string, Session>();
  /** By aedes's array: one per SUBSCRIBE. */
  readonly #added = new WeakMap<readonly object[], Promise<void>>();

  constructor(store: SessionStore, rules: SessionRules) {
    this.#rules = rules;
    this.methods = {
      storeRetained: (packet) => this.#storeRetained(packet),
      createRetainedStreamCombi: () => Readable.from([]),
      addSubscriptions: (client, subscriptions) => this.#addOnce(client, subscriptions),
      removeSubscriptions: (client, topics) => this.#remove(client, topics),
      cleanSubscriptions: (client) => this.#clean(client),
      outgoingEnqueueCombi: (sessions, packet) => this.#enqueue(sessions, packet),
      outgoingUpdate: (client, packet) => this.#update(client, packet),
      outgoingClearMessageId: (client, packet) => this.#clear(client, packet),
    };
    this.#store = methodsBefore(store, this.methods);
  }

  async #storeRetained(packet: StoredPacket): Promise<void> {
    const { counts, maxRetainedMessages, maxRetainedBytes } = this.#rules;
    const isEmpty = packet.payload.length === 0;
    const bytes = isEmpty ? 0 : keptBytesOf(packet);
    const before = this.retained.get(packet.topic);
    const bytesBefore = before === undefined ? 0 : keptBytesOf(before);
    const messages = counts.retainedMessages + (before === undefined ? 1 : 0);
    const isFull = messages > maxRetainedMessages || counts.retainedBytes - bytesBefore + bytes > maxRetainedBytes;
    if (!isEmpty && isFull) {
      counts.retainedDropped++;
      this.#rules.onFull('retained-full', null);
      return;
    }
    if (isEmpty) this.retained.delete(packet.topic);
    else this.retained.set({ ...packet });
    counts.retainedMessages = this.retained.count;
    counts.retainedBytes += bytes - bytesBefore;
  }

  /** Adds a SUBSCRIBE's filters once; aedes adds all of them for each, which takes minutes. */
  #addOnce(client: SessionOwner, subscriptions: readonly { readonly topic: string }[]): Promise<void> {
    const known = this.#added.get(subscriptions);
    if (known !== undefined) return known;
    const added = this.#add(client, subscriptions);
    this.#added.set(subscriptions, added);
    return added;
  }

  async #add(client: SessionOwner, subscriptions: readonly { readonly topic: string }[]): Promise<void> {
    const { counts, maxSubscriptions } = this.#rules;
    const topics = this.#sessions.get(client.id)?.topics;
    const added = new Set(subscriptions.map(({ topic }) => topic).filter((topic) => topics?.has(topic) !== true));
    const places = placesOfAll(added);
    if (counts.subscriptions + places > maxSubscriptions) {
      this.#rules.onFull('subscriptions-full', client.id);
      throw new Error('too many subscriptions are kept');
    }
    const session = this.#sessionOf(client.id);
    for (const topic of added) session.topics.add(topic);
    counts.subscriptions += places;
    await this.#store.addSubscriptions(client, subscriptions);
  }

  async #remove(client: SessionOwner, topics: readonly string[]): Promise<void> {
    const session = this.#sessions.get(client.id);
    for (const topic of topics) {
      if (session?.topics.delete(topic)) this.#rules.counts.subscriptions -= placesOf(topic);
    }
    this.#forgetIfEmpty(client.id);
    await this.#store.removeSubscriptions(client, topics);
  }

  /** Begins a clean session; drops what the last one held: MQTT 3.1.1, 3.1.2.4. */
  async #clean(client: SessionOwner): Promise<unknown> {
    const session = this.#sessions.get(client.id);
    const cleaned = await this.#store.cleanSubscriptions(client);
    if (session === undefined) return cleaned;
    this.#rules.counts.subscriptions -= placesOfAll(session.topics);
    session.topics.clear();
    for (const { messageId } of [...session.held.values()]) await this.#clear(client, { ...NO_PACKET, messageId });
    this.#forgetIfEmpty(client.id);
    return cleaned;
  }

  /** Keeps one message per session; aedes names a session once for each of its filters that match. */
  async #enqueue(sessions: readonly { readonly clientId: string }[], packet: StoredPacket): Promise<void> {
    const bytes = keptBytesOf(packet);
    const each = [...new Map(sessions.map((session) => [session.clientId, session])).values()];
    const taking = each.filter(({ clientId }) => this.#take(clientId, packet.brokerCounter ?? 0, bytes));
    if (taking.length > 0) await this.#store.outgoingEnqueueCombi(taking, packet);
  }

  #take(clientId: string, number: number, bytes: number): boolean {
    const { counts, maxSessionMessages, maxSessionBytes } = this.#rules;
    const session = this.#sessionOf(clientId);
    if (session.held.size >= maxSessionMessages || counts.sessionBytes + bytes > maxSessionBytes) {
      counts.sessionDropped++;
      this.#rules.onFull('session-full', clientId);
      return false;
    }
    session.held.set(number, { bytes, messageId: undefined });
    counts.sessionMessages++;
    counts.sessionBytes += bytes;
    return true;
  }

  async #update(client: SessionOwner, packet: StoredPacket): Promise<unknown> {
    const { brokerCounter, messageId } = packet;
    const session = this.#sessions.get(client.id);
    const held = brokerCounter === undefined ? undefined : session?.held.get(brokerCounter);
    if (held !== undefined && messageId !== undefined) {
      if (held.messageId !== undefined) session!.numbers.delete(held.messageId);
      held.messageId = messageId;
      session!.numbers.set(messageId, brokerCounter!);
      // aedes takes the QoS of a filter that is the topic itself: at 0 nobody would acknowledge what is kept for another.
      if (packet.qos === 0) packet.qos = 1;
    }
    return this.#store.outgoingUpdate(client, packet);
  }

  async #clear(client: SessionOwner, packet: StoredPacket): Promise<StoredPacket | undefined> {
    const cleared = await this.#store.outgoingClearMessageId(client, packet);
    const session = this.#sessions.get(client.id);
    if (cleared === undefined || session === undefined) return cleared;
    const number = cleared.brokerCounter ?? session.numbers.get(packet.messageId as number);
    const held = number === undefined ? undefined : session.held.get(number);
    if (held === undefined) return cleared;
    session.held.delete(number as number);
    if (held.messageId !== undefined) session.numbers.delete(held.messageId);
    this.#rules.counts.sessionMessages--;
    this.#rules.counts.sessionBytes -= held.bytes;
    this.#forgetIfEmpty(client.id);
    return cleared;
  }

  #sessionOf(clientId: string): Session {
    const known = this.#sessions.get(clientId);
    if (known !== undefined) return known;
    const made: Session = { topics: new Set(), held: new Map(), numbers: new Map() };
    this.#sessions.set(clientId, made);
    return made;
  }

  #forgetIfEmpty(clientId: string): void {
    const session = this.#sessions.get(clientId);
    if (session !== undefined && session.topics.size === 0 && session.held.size === 0) this.#sessions.delete(clientId);
  }
}

const NO_PACKET = { topic: '', payload: '' };

type ReceivedMethods = Pick<
  SessionStore,
  'incomingGetPacket' | 'incomingStorePacket' | 'incomingDelPacket' | 'cleanIncoming'
>;

/**
 * Holds the ids of QoS 2 messages that are not released. They came, and are published (MQTT 3.1.1, 4.3.3): payloads are
 * not kept. aedes would cut off clients with a thousand, as mqtt.js has, and keep those of sessions that never come
 * back.
 */
class Unreleased {
  readonly methods: ReceivedMethods;
  readonly #rules: SessionRules;
  readonly #store: ReceivedMethods;
  readonly #ids = new Map<string, Set<number>>();

  constructor(store: SessionStore, rules: SessionRules) {
    this.#rules = rules;
    this.methods = {
      incomingGetPacket: (client, packet) => this.#get(client, packet),
      incomingStorePacket: (client, packet) => this.#add(client, packet),
      incomingDelPacket: (client, packet) => this.#release(client, packet),
      cleanIncoming: (client) => this.#clean(client),
    };
    this.#store = methodsBefore(store, this.methods);
  }

  async #get(client: SessionOwner, packet: StoredPacket): Promise<StoredPacket> {
    const found = await this.#store.incomingGetPacket(client, packet);
    this.#rules.onRepeated(packet);
    return found;
  }

  async #add(client: SessionOwner, packet: StoredPacket): Promise<void> {
    const { counts, maxSessionMessages, maxSessionBytes, onFull } = this.#rules;
    const ids = this.#ids.get(client.id) ?? new Set();
    const id = packet.messageId as number;
    if (!ids.has(id)) {
      if (ids.size >= maxSessionMessages || counts.sessionBytes + KEPT_BYTES > maxSessionBytes) {
        onFull('session-full', client.id);
        throw new Error('too many messages of QoS 2 are not released');
      }
      this.#ids.set(client.id, ids.add(id));
      this.#count(1);
    }
    await this.#store.incomingStorePacket(client, { ...packet, topic: '', payload: '' });
  }

  async #release(client: SessionOwner, packet: StoredPacket): Promise<void> {
    await this.#store.incomingDelPacket(client, packet);
    const ids = this.#ids.get(client.id);
    if (ids?.delete(packet.messageId as number)) this.#count(-1);
    if (ids?.size === 0) this.#ids.delete(client.id);
  }

  async #clean(client: SessionOwner): Promise<void> {
    this.#count(-(this.#ids.get(client.id)?.size ?? 0));
    this.#ids.delete(client.id);
    await this.#store.cleanIncoming(client);
  }

  #count(messages: number): void {
    this.#rules.counts.sessionMessages += messages;
    this.#rules.counts.sessionBytes += messages * KEPT_BYTES;
  }
}

/** Returns the store's methods that are about to be replaced. */
function methodsBefore<Replaced extends Partial<SessionStore>>(store: SessionStore, replaced: Replaced): Replaced {
  const names = Object.keys(replaced) as (keyof SessionStore)[];
  return Object.fromEntries(names.map((name) => [name, store[name].bind(store)])) as unknown as Replaced;
}
