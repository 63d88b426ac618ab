import type { SessionOwner, SessionRules, SessionStore, StoredPacket } from './session-bounds.js';

export type ReceivedMethods = Pick<
  SessionStore,
  'incomingGetPacket' | 'incomingStorePacket' | 'incomingDelPacket' | 'cleanIncoming'
>;

/**
 * Messages of QoS 2 that have come and that their sender has not released (MQTT 3.1.1, 4.3.3). They are published already,
 * so that all that has to be known of them is the message id: the payload is not kept. aedes cuts a client off that has a
 * thousand of them under way, which mqtt.js has whenever it publishes more at once; and would keep, without any bound,
 * those of sessions whose client does not come back.
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

/** The store's own methods, for whoever is about to replace them. */
export function methodsBefore<Replaced extends Partial<SessionStore>>(
  store: SessionStore,
  replaced: Replaced,
): Replaced {
  const names = Object.keys(replaced) as (keyof SessionStore)[];
  return Object.fromEntries(names.map((name) => [name, store[name].bind(store)])) as unknown as Replaced;
}

/** What an id takes in aedes's store and here, towards maxSessionBytes. */
const ID_BYTES = 256;
