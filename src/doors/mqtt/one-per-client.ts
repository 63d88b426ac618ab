import type { Aedes, Client } from 'aedes';

type Deliver = (packet: object, done: () => void) => void;

interface Matcher {
  match(topic: string): Deliver[];
}

type MatchedAedes = Aedes & { readonly mq: { readonly _matcher: Matcher } };
type SubscribedClient = Client & { readonly subscriptions: Readonly<Record<string, { readonly func: Deliver }>> };

/**
 * Calls each client once per message, however many of its filters match; session-bounds.ts stores it once. *Why:* aedes
 * calls it for each, and drops all but the first there, at 5 µs each: with 65,536 filters that overlap, of one client,
 * a publish took half a second.
 */
export function onePerClient(aedes: Aedes): void {
  const owners = new WeakMap<Deliver, Client>();
  const matcher = (aedes as MatchedAedes).mq._matcher;
  const match = matcher.match.bind(matcher);
  matcher.match = (topic) => {
    const matched = match(topic);
    return matched.length < 2 ? matched : firstPerOwner(matched, owners);
  };
  const note = (client: Client, topics: Iterable<string>) => {
    const { subscriptions } = client as SubscribedClient;
    for (const topic of topics) {
      const subscription = subscriptions[topic];
      if (subscription !== undefined) owners.set(subscription.func, client);
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

function firstPerOwner(matched: readonly Deliver[], owners: WeakMap<Deliver, Client>): Deliver[] {
  const called = new Set<Client>();
  const first: Deliver[] = [];
  for (const deliver of matched) {
    const owner = owners.get(deliver);
    if (owner !== undefined && called.has(owner)) continue;
    if (owner !== undefined) called.add(owner);
    first.push(deliver);
  }
  return first;
}
