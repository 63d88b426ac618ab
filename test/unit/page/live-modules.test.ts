import { describe, expect, test } from 'vitest';

const { Past } = await import('../../../src/doors/page/live/past.mjs' as string);
const { stepsOf } = await import('../../../src/doors/page/live/why-steps.mjs' as string);
const { lineWidths } = await import('../../../sim/page/browser/views.mjs' as string);
const { clock } = await import('../../../src/doors/page/browser/figures.mjs' as string);

const RATES = (messagesPerSecond: number) => ({ messagesPerSecond, bytesPerSecond: null });
const EXPLANATION = {
  quota: RATES(100),
  quotaAsWritten: { messagesPerSecond: 100 },
  usage: RATES(100),
  demand: RATES(300),
  limiting: { deciding: null },
  binding: 'messages',
  ramp: null,
  inForce: RATES(100),
  clusterBucket: null,
  local: {
    served: true,
    link: 'linked',
    share: RATES(40),
    tokens: { messages: 10, bytes: null },
    depth: { messages: 100, bytes: null },
    comesBack: RATES(50),
    windowMs: 0,
    refusedBecause: [],
  },
};
const GROUP = { strategy: 'max-min', gate: 'topics' };
const ASKED = { explanation: EXPLANATION, group: GROUP, ready: true, amount: 5, dimension: 'messages' };

describe('why', () => {
  test('passes where there are tokens, with what is left', () => {
    const { steps, passes, advice } = stepsOf(ASKED);
    expect([passes, advice]).toEqual([true, []]);
    expect(steps.at(-1)).toEqual({ title: 'Tokens here: 10', says: '5 are taken, and 5 are left.', state: 'go' });
    expect(steps.map(({ title }: { title: string }) => title)).toContain('Share of this node: 40/s');
  });

  test('a group made of a rule of Envoy names it first, by file and line, domain and descriptor', () => {
    const rule = { place: 'rules/edge.yaml:12', domain: 'edge', descriptor: 'user, path=/login' };
    const { steps } = stepsOf({ ...ASKED, group: { ...ASKED.group, rule } });
    const says = 'edge: user, path=/login';
    expect(steps[0]).toEqual({ title: 'A rule of Envoy: rules/edge.yaml:12', says, state: 'note' });
  });

  test('too few tokens: how long to wait, how much to ask for, which quota would do', () => {
    const { passes, advice } = stepsOf({ ...ASKED, amount: 60 });
    expect(passes).toBe(false);
    expect(advice).toEqual([
      'Ask for 10 messages now (atMost does so by itself).',
      'Wait 1.0 s: 50/s come back here if nobody else takes any (waitMs does so by itself).',
      'A quota of 300/s would be what all nodes want now; it is 100/s.',
    ]);
  });

  test('a request of more than the bucket holds passes when the bucket is full', () => {
    const at = (messages: number) => {
      const local = { ...EXPLANATION.local, tokens: { messages, bytes: null } };
      return stepsOf({ ...ASKED, amount: 500, explanation: { ...EXPLANATION, local } });
    };
    expect(at(10).steps.at(-1).says).toBe(
      '500 are asked for. At most 100 can be here: a larger request passes when they are, and owes the rest. 90 too few.',
    );
    expect(at(10).advice[1]).toMatch(/^Wait 1\.8 s: 50\/s come back/);
    expect(at(100)).toMatchObject({ passes: true, advice: [] });
    expect(at(100).steps.at(-1).says).toContain('500 are taken, and 400 are owed.');
  });

  test('a window grants no more than it holds, however long is waited', () => {
    const local = { ...EXPLANATION.local, windowMs: 1000, depth: { messages: 50, bytes: null } };
    const advice = (amount: number) => stepsOf({ ...ASKED, amount, explanation: { ...EXPLANATION, local } }).advice[1];
    expect(advice(40)).toBe('Wait for a window: one begins every 1.0 s (waitMs does so by itself).');
    expect(advice(60)).toBe('Ask for less: a window holds 50 messages, however long is waited.');
  });

  test('a strict group: what this node holds, what waits in the log, or why nothing can be known', () => {
    const strict = { because: '', pool: 40, depth: 100, held: 2, roundTripMs: 10 };
    const at = (told: object, amount: number) =>
      stepsOf({ ...ASKED, amount, explanation: { ...EXPLANATION, strict: { ...strict, ...told } } });
    expect(at({}, 2)).toMatchObject({ passes: true, advice: [] });
    expect(at({}, 5).steps.at(-1).says).toBe('3 too few. 40 of 100 wait in the log for whoever asks.');
    expect(at({}, 5).advice[0]).toMatch(/^Wait 50 ms: a round trip/);
    const { steps, passes } = at({ because: 'the log is away: refused' }, 1);
    expect(passes).toBe(false);
    expect(steps.map(({ says }: { says: string }) => says)).toContain('the log is away: refused.');
  });

  test('a budget: what is left of its period, or why nothing can be known', () => {
    const budget = { because: '', unit: 'messages', per: 'month', limit: 900, remaining: 4, held: 2, until: 'then' };
    const at = (told: object, dimension = 'messages') =>
      stepsOf({ ...ASKED, dimension, group: { ...GROUP, budget: { ...budget, ...told } } });
    const refused = at({});
    expect(refused.steps.map(({ title }: { title: string }) => title)).toContain(
      'Budget left: 4 of 900 messages per month',
    );
    expect(refused.advice).toEqual(['Wait until then, raise the budget, or give it some: quotamesh budget top-up.']);
    expect(at({ until: null }).advice[0]).toMatch(/^Raise the budget/);
    expect(at({ remaining: 5 })).toMatchObject({ passes: true, advice: [] });
    expect(at({ because: 'its log is away' }).passes).toBe(false);
    expect(at({ unit: 'bytes' }).passes).toBe(true);
  });

  test('a request above maxRequest, a quota of 0, a node that does not decide: each says itself', () => {
    const stopped = (asked: object) => {
      const { steps, advice } = stepsOf({ ...ASKED, ...asked });
      return [steps.find(({ state }: { state: string }) => state === 'stop').title, advice[0]];
    };
    expect(stopped({ amount: 60, maxRequest: { messages: 50 } })).toEqual([
      'The request is too large: 60 messages',
      'Ask for 50 messages at most at once.',
    ]);
    expect(stopped({ ready: false })[0]).toBe('The node does not decide');
    const closed = { ...EXPLANATION, quota: RATES(0), inForce: RATES(0) };
    expect(stopped({ explanation: closed })[1]).toBe('The quota is 0: only another quota lets anything pass.');
  });
});

describe('the past of a group', () => {
  const pushed = (messagesPerSecond: number, refusedMessages = 0) => {
    const rates = RATES(messagesPerSecond);
    const nodes = [{ nodeId: 'a', share: rates, usage: rates, demand: rates }];
    return { quota: rates, target: rates, nodes, local: { refusedMessages } };
  };

  test('shows what was pushed last, twice within a second and after a step back of the clock', () => {
    const past = new Past();
    const shown = [1000, 2000, 3550, 4449, 5000, 2100, 3000].map((atMs, at) => {
      past.add(atMs, pushed(100 * (at + 1), 10 * at), 'messages');
      const index = past.indexAgo(0);
      return [past.times[index], past.columns.quota[index], past.columns.refused[index], past.nodes.get('a')[index]];
    });
    expect(shown).toEqual([
      [1, 100, null, 100],
      [2, 200, 10, 200],
      [4, 300, 5, 300],
      [4, 400, 10, 400],
      [5, 500, 10, 500],
      [2, 600, null, 600],
      [3, 700, 10, 700],
    ]);
    expect(past.times).toEqual([1, 2, 3]);
    expect(past.columns.quota).toEqual([100, 600, 700]);
  });
});

describe('the page of a run', () => {
  test('lines that lie on one another have other widths, the first of them the widest', () => {
    expect(
      lineWidths([
        [1, 1, 1],
        [1, 1, 2],
        [5, 5, 5],
      ]),
    ).toEqual([3.5, 1.5, 1.5]);
    const twelve = lineWidths(Array.from({ length: 12 }, () => [3, 3]));
    expect(new Set(twelve).size).toBe(12);
    expect(Math.max(...twelve)).toBeLessThan(11);
  });

  test('the time of a trace is that of its clock', () => {
    const since = { begunMs: Date.UTC(2023, 10, 16, 18, 17, 3), hasDays: false };
    expect([clock(1.5, 100, since), clock(1.5, 100)]).toEqual(['18:17:04.5', '1.5 s']);
    expect(clock(86_400, 6000, { ...since, hasDays: true })).toBe('11-17 18:17:03');
  });
});
