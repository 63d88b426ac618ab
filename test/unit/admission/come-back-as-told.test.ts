import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { isDrawn } from '../../property/seed.js';
import type { WholeNode } from '../../whole-node.js';
import { type KeysCluster, PER_MINUTE, PER_SECOND, withKeys } from '../keys/keys-cluster.js';

const ONE = { messages: 1 };

/** Grants or refuses: a node, or the exact line. */
type Granter = Pick<WholeNode, 'tryAcquire'> | ExactLine;

/**
 * One bucket for all, which counts whom it sent away: who is refused hears when the bucket holds a token for everybody
 * told before and for him. It cannot tell who comes back from who is new, and so keeps no token for anybody.
 */
class ExactLine {
  readonly #perSecond: number;
  readonly #depth: number;
  #tokens: number;
  #readMs = performance.now();
  /** When those told will come, ms. */
  #toldMs: number[] = [];

  constructor(perSecond: number, depth: number) {
    this.#perSecond = perSecond;
    this.#depth = depth;
    this.#tokens = depth;
  }

  tryAcquire(): { readonly granted: true } | { readonly granted: false; readonly retryAfterMs: number } {
    const nowMs = performance.now();
    this.#tokens = Math.min(this.#depth, this.#tokens + ((nowMs - this.#readMs) / 1000) * this.#perSecond);
    this.#readMs = nowMs;
    this.#toldMs = this.#toldMs.filter((ms) => ms > nowMs);
    if (this.#tokens >= 1) {
      this.#tokens--;
      return { granted: true };
    }
    const retryAfterMs = (1000 * (this.#toldMs.length + 1 - this.#tokens)) / this.#perSecond;
    this.#toldMs.push(nowMs + 1000 * Math.ceil(retryAfterMs / 1000));
    return { granted: false, retryAfterMs };
  }
}

/** Clients of one key behind a balancer; whoever is refused waits as Retry-After says. */
class Clients {
  granted = 0;
  cameBack = 0;
  refusedAgain = 0;
  readonly #nodes: readonly Granter[];
  readonly #key: string;
  readonly #random: Random;
  /** A balancer that deals many keys in turn deals each of them at random. */
  readonly #isDealtAtRandom: boolean;
  #turn = 0;

  constructor(nodes: readonly Granter[], key: string) {
    this.#nodes = nodes;
    this.#key = key;
    this.#random = Random.stream(7, key);
    this.#isDealtAtRandom = key.endsWith('-at-random');
  }

  /** Asks until it is granted. */
  ask(onGrant: () => void = () => undefined, tries = 0): void {
    const turn = this.#isDealtAtRandom ? Math.floor(this.#random.next() * this.#nodes.length) : this.#turn++;
    const decision = this.#nodes[turn % this.#nodes.length].tryAcquire(this.#key, ONE);
    if (tries > 0) this.cameBack++;
    if (decision.granted) {
      this.granted++;
      onGrant();
      return;
    }
    if (tries > 0) this.refusedAgain++;
    const seconds = Math.ceil(decision.retryAfterMs / 1000);
    setTimeout(() => this.ask(onGrant, tries + 1), 1000 * seconds + this.#random.between(1, 30));
  }

  /** So many come within a fifth of a second. */
  herd(count: number): void {
    for (let at = 0; at < count; at++) setTimeout(() => this.ask(), this.#random.between(0, 200));
  }

  /** Asks for ever, so often per second. */
  arrive(perSecond: number): void {
    setTimeout(
      () => {
        this.ask();
        this.arrive(perSecond);
      },
      this.#random.exponential(1000 / perSecond),
    );
  }

  /** Does one thing after the other, with a pause between. */
  work(pauseMs: number): void {
    setTimeout(() => this.ask(() => this.work(pauseMs)), this.#random.exponential(pauseMs));
  }

  /** Counts anew. */
  begin(): void {
    Object.assign(this, { granted: 0, cameBack: 0, refusedAgain: 0 });
  }

  /** The part of those that came back that was granted. */
  get kept(): number {
    return 1 - this.refusedAgain / this.cameBack;
  }
}

type Outcome = Pick<Clients, 'granted' | 'cameBack' | 'kept'>;

/** What clients do with a key, and what becomes of them in so many seconds. */
async function play(
  nodes: number,
  seconds: number,
  stories: Readonly<Record<string, (clients: Clients) => void>>,
): Promise<Record<string, Outcome>> {
  const all: Record<string, Clients> = {};
  const outcomes: Record<string, Outcome> = {};
  await withKeys(nodes, { 'second:{id}': PER_SECOND(10), 'minute:{id}': PER_MINUTE(60) }, async (cluster) => {
    for (const [key, story] of Object.entries(stories)) {
      all[key] = new Clients(granters(key, cluster), key);
      story(all[key]);
    }
    await cluster.time.advance(WARM_MS);
    for (const clients of Object.values(all)) clients.begin();
    await cluster.time.advance(1000 * seconds);
    // They go on to ask while the nodes close.
    for (const [key, { granted, cameBack, kept }] of Object.entries(all)) outcomes[key] = { granted, cameBack, kept };
  });
  return outcomes;
}

/** `exactly:…` is asked of the line, all other keys of the nodes. */
function granters(key: string, { nodes }: KeysCluster): readonly Granter[] {
  if (!key.startsWith('exactly:')) return nodes;
  return [key.includes('minute') ? new ExactLine(1, 60) : new ExactLine(10, 10)];
}

const WARM_MS = 20_000;

const herds = (clients: Clients, count: number, everyS: number) => {
  clients.herd(count);
  setInterval(() => clients.herd(count), 1000 * everyS);
};
const workers = (clients: Clients, count: number, pauseMs: number) => {
  for (let at = 0; at < count; at++) clients.work(pauseMs);
};
const fifty = (clients: Clients) => {
  clients.arrive(5);
  herds(clients, 50, 20);
};
const twoHundred = (clients: Clients) => {
  clients.arrive(1);
  herds(clients, 191, 60);
};

/** Keys that are asked in the same way, and judged together. */
const ALIKE = Array.from({ length: 8 }, (_, at) => `minute:twice-${at}`);

/** One cluster plays all stories, because its time is what they cost. */
const ON_THREE =
  'who waits as told is granted where the quota suffices; where it does not, few are refused and all of it is used';
test.runIf(isDrawn(0))(ON_THREE, async () => {
  const seconds = 110;
  const told = await play(3, seconds, {
    'second:fifty': fifty,
    'second:fifty-at-random': fifty,
    'second:two-hundred': twoHundred,
    'second:two-hundred-at-random': twoHundred,
    'second:one': (clients) => clients.work(10),
    'second:twice': (clients) => workers(clients, 20, 1000),
    ...Object.fromEntries(ALIKE.map((key) => [key, (clients: Clients) => workers(clients, 4, 2000)])),
    'minute:one': (clients) => clients.work(100),
    'exactly:second:twice': (clients) => workers(clients, 20, 1000),
    'exactly:minute:twice': (clients) => workers(clients, 4, 2000),
  });
  // Seven of the 200 who come back to a key are 3.5 %: all four keys are judged together.
  const sufficed = Object.keys(told).slice(0, 4);
  let [cameBack, kept] = [0, 0];
  for (const key of sufficed) {
    expect(told[key].cameBack, key).toBeGreaterThanOrEqual(150);
    cameBack += told[key].cameBack;
    kept += told[key].kept * told[key].cameBack;
  }
  expect(kept / cameBack).toBeGreaterThanOrEqual(0.97);
  console.log(
    Object.entries(told)
      .map(([key, { kept }]) => `${key} ${(100 * kept).toFixed(1)} %`)
      .join(', '),
  );
  // A dozen of them come back to each.
  const alike = ALIKE.map((key) => told[key]);
  const again = alike.reduce((sum, { cameBack }) => sum + cameBack, 0);
  const keptOfAlike = alike.reduce((sum, one) => sum + one.kept * one.cameBack, 0) / again;
  expect(again).toBeGreaterThan(80);
  expect(keptOfAlike).toBeGreaterThan(told['exactly:minute:twice'].kept + 0.1);
  expect(keptOfAlike).toBeGreaterThanOrEqual(0.7);
  expect(told['second:twice'].kept).toBeGreaterThan(told['exactly:second:twice'].kept + 0.1);
  for (const [key, { kept, granted }] of Object.entries(told)) {
    if (sufficed.includes(key) || key.startsWith('exactly:')) continue;
    const quota = seconds * (key.startsWith('second') ? 10 : 1);
    if (!ALIKE.includes(key)) expect(kept, key).toBeGreaterThanOrEqual(0.7);
    expect(granted, key).toBeGreaterThanOrEqual((key === 'second:one' ? 0.75 : 0.9) * quota);
  }
});

const ON_TEN = 'on ten nodes, too, in turn; at random some find that their node may take no more at once';
test.runIf(isDrawn(2))(ON_TEN, async () => {
  const told = await play(10, 30, { 'second:fifty': fifty, 'second:fifty-at-random': fifty });
  expect(told['second:fifty'].cameBack).toBeGreaterThan(50);
  expect(told['second:fifty'].kept).toBeGreaterThanOrEqual(0.97);
  expect(told['second:fifty-at-random'].kept).toBeGreaterThanOrEqual(0.9);
});

const SLOWLY = 'who is refused by a slow quota is told when its token comes, by every node, and is granted then';
test.runIf(isDrawn(4))(SLOWLY, async () => {
  const per = (messagesPerSecond: string) => ({ quota: { publish: { messagesPerSecond } } });
  const keys = { 'hour:{id}': per('20/h'), 'day:{id}': per('1/d'), 'month:{id}': per('0.03/d') };
  await withKeys(3, keys, async ({ nodes, time }) => {
    const ask = (node: number, key: string) => {
      const decision = nodes[node].tryAcquire(key, ONE);
      return decision.granted ? 0 : decision.retryAfterMs / 1000;
    };
    for (const key of ['hour:a', 'day:a', 'month:a']) {
      let granted = 0;
      while (ask(granted % 3, key) === 0) {
        granted++;
        await time.advance(100);
      }
      expect(granted, key).toBe(key === 'hour:a' ? 20 : 1);
    }
    await time.advance(1000);
    for (let node = 0; node < 3; node++) {
      expect(ask(node, 'day:a')).toBeGreaterThan(86_300);
      expect(ask(node, 'day:a')).toBeLessThanOrEqual(86_400);
      expect(ask(node, 'month:a')).toBe((2 ** 31 - 1) / 1000);
    }
    for (let node = 0; node < 3; node++) {
      const told = ask(node, 'hour:a');
      expect(told).toBeGreaterThan(120);
      expect(told).toBeLessThanOrEqual(180);
      await time.advance(1000 * told);
      expect(ask((node + 1) % 3, 'hour:a')).toBe(0);
      await time.advance(1000);
    }
  });
});
