import type { SessionRules } from './session-bounds.js';

/**
 * Counts subscriptions of clients with a clean session, by connection. aedes keeps them in memory and asks no store
 * about them. They count towards the bound of sessions', and end with the connection.
 */
export class CleanSubscriptions<Connection extends { readonly destroyed: boolean }> {
  readonly #rules: Pick<SessionRules, 'maxSubscriptions' | 'counts' | 'onFull'>;
  readonly #topics = new Map<Connection, Set<string>>();

  constructor(rules: Pick<SessionRules, 'maxSubscriptions' | 'counts' | 'onFull'>) {
    this.#rules = rules;
  }

  /** Adds one; false = no room, or the connection is gone. A topic subscribed to already takes no room. */
  add(connection: Connection, clientId: string, topic: string): boolean {
    const { counts, maxSubscriptions, onFull } = this.#rules;
    const topics = this.#topics.get(connection) ?? new Set();
    if (connection.destroyed) return false;
    if (topics.has(topic)) return true;
    if (counts.subscriptions >= maxSubscriptions) {
      onFull('subscriptions-full', clientId);
      return false;
    }
    this.#topics.set(connection, topics.add(topic));
    counts.subscriptions++;
    return true;
  }

  remove(connection: Connection, topics: readonly string[]): void {
    const known = this.#topics.get(connection);
    for (const topic of topics) if (known?.delete(topic)) this.#rules.counts.subscriptions--;
  }

  ended(connection: Connection): void {
    this.#rules.counts.subscriptions -= this.#topics.get(connection)?.size ?? 0;
    this.#topics.delete(connection);
  }
}
