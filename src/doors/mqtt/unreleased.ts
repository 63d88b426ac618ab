import type { SessionOwner, SessionRules, SessionStore, StoredPacket } from './session-bounds.js';

export type ReceivedMethods = Pick<
  SessionStore,
  'incomingGetPacket' | 'incomingStorePacket' | 'incomingDelPacket' | 'cleanIncoming'
>;

/**
 * Holds the ids of QoS 2 messages that came and are not released (MQTT 3.1.1, 4.3.3). They are published: payloads are
 * not kept. aedes would cut off clients with a thousand, as mqtt.js has, and keep those of sessions that never come
 * back.
 */
export class Unreleased {
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
      if (ids.size >= maxSessionMessages || counts.sessionBytes + ID_BYTES > maxSessionBytes) {
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
    this.#rules.counts.sessionBytes += messages * ID_BYTES;
  }
}

/** Returns the store's methods that are about to be replaced. */
export function methodsBefore<Replaced extends Partial<SessionStore>>(
  store: SessionStore,
  replaced: Replaced,
): Replaced {
  const names = Object.keys(replaced) as (keyof SessionStore)[];
  return Object.fromEntries(names.map((name) => [name, store[name].bind(store)])) as unknown as Replaced;
}

/** Bytes that an id counts towards maxSessionBytes. */
const ID_BYTES = 256;
