import type { Aedes, Client } from 'aedes';

type Deliver = (packet: object, done: () => void) => void;

interface Matcher {
  match(topic: string): Deliver[];
}

type MatchedAedes = Aedes & { readonly mq: { readonly _matcher: Matcher } };
type SubscribedClient = Client & { readonly subscriptions: Readonly<Record<string, Subscription>> };

interface Subscription {
  readonly func: Deliver;
  readonly qos: number;
}

interface Owned extends Subscription {
  readonly client: Client;
}

/**
 * Calls each client once per message, however many of its filters match. Of these it is one with the highest QoS (MQTT
 * 3.1.1, 3.3.5), or the copy that session-bounds.ts stores would never be acknowledged. *Why:* aedes calls it for each,
 * and drops all but the first there, at 5 µs each: with 65,536 filters that overlap, of one client, a publish took half
 * a second.
 */
export function onePerClient(aedes: Aedes): void {
  const owned = new WeakMap<Deliver, Owned>();
  const matcher = (aedes as MatchedAedes).mq._matcher;
  const match = matcher.match.bind(matcher);
  matcher.match = (topic) => {
    const matched = match(topic);
    return matched.length < 2 ? matched : onePerOwner(matched, owned);
  };
  const note = (client: Client, topics: Iterable<string>) => {
    const { subscriptions } = client as SubscribedClient;
    for (const topic of topics) {
      const subscription = subscriptions[topic];
      if (subscription !== undefined) owned.set(subscription.func, { ...subscription, client });
    }
  };
  aedes.on('subscribe', (added, client) => {
    note(
      client,
      added.map(({ topic }) => topic),
    );
  });
  // A session that comes back has its filters without a SUBSCRIBE.
  aedes.on('client', (client) => note(client, Object.keys((client as SubscribedClient).subscriptions)));
}

function onePerOwner(matched: readonly Deliver[], owned: WeakMap<Deliver, Owned>): Deliver[] {
  const chosen = new Map<Client | Deliver, Subscription>();
  for (const func of matched) {
    const { client, qos } = owned.get(func) ?? { client: func, qos: 0 };
    const before = chosen.get(client);
    if (before === undefined || qos > before.qos) chosen.set(client, { func, qos });
  }
  return [...chosen.values()].map(({ func }) => func);
}
