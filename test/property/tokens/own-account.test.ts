import fc from 'fast-check';
import { assert, describe, expect, test } from 'vitest';
import { OwnAccount } from '../../../src/core/account/own-account.js';
import { partOf, runs } from '../seed.js';

const amount = fc.double({ min: 0, max: 100, noNaN: true });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), units: amount }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('refund' as const), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      seconds: fc.double({ min: 0, max: 2, noNaN: true }),
      expected: amount,
      slack: amount,
      creditMax: fc.double({ min: 0, max: 50, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), room: amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tell' as const), isLost: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('owe' as const), most: amount, owedMax: amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pay' as const), units: amount }) },
);
type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;
const steps = fc.array(step, { minLength: 1, maxLength: 80, size: 'max' });

/** An account, with naive sums of all that happened to it. */
class Scene {
  readonly account = new OwnAccount();
  taken = 0;
  expected = 0;
  slackAtMost = 0;
  creditMax = 0;
  cameBack = 0;
  letOff = 0;
  /** Taken and not yet given back. */
  held = 0;
  /** Told, and in a record that will be read back. */
  readonly sent: number[] = [];

  do(now: Step): void {
    const { account } = this;
    if (now.kind === 'take') this.#take(now.units);
    else if (now.kind === 'refund') this.#take(-now.part * this.held);
    else if (now.kind === 'lose') account.loseAbove(now.room);
    else if (now.kind === 'pass') this.#pass(now);
    else if (now.kind === 'owe') this.#owe(now);
    else if (now.kind === 'pay') account.pay(now.units);
    else if (now.kind === 'read') account.knownCharge = this.sent.shift() ?? account.knownCharge;
    else {
      const told = account.publish();
      if (!now.isLost) this.sent.push(told);
    }
  }

  #take(units: number): void {
    this.account.take(units);
    this.cameBack += Math.max(0, -units);
    this.taken += units;
    this.held = Math.max(0, this.held + units);
  }

  #owe({ most, owedMax }: Extract<Step, { kind: 'owe' }>): void {
    const { charge, owed } = this.account;
    this.account.owe(Infinity, most, owedMax);
    this.letOff += charge + owed - this.account.charge - this.account.owed;
    assert(this.account.owed >= owed - DOUBT);
    assert(this.account.owed <= Math.max(owed, owedMax) + DOUBT);
  }

  #pass({ seconds, expected, slack, creditMax }: Extract<Step, { kind: 'pass' }>): void {
    this.account.payBySlack(slack * seconds);
    this.account.pass(seconds, expected, creditMax);
    this.expected += expected * seconds;
    this.slackAtMost += slack * seconds;
    this.creditMax = creditMax;
  }
}

const DOUBT = 1e-6;
/** No bound on what came back. */
const MAX = Infinity;

describe('over any sequence of calls', () => {
  test('the charge, and what is owed or let off, is all that was taken, less what was expected, less no more than the slack', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const scene = new Scene();
        for (const now of all) {
          const before = scene.account.charge;
          scene.do(now);
          if (now.kind === 'lose') assert(scene.account.charge >= before);
          const all = scene.account.charge + scene.account.owed + scene.letOff;
          assert(all >= scene.taken - scene.expected - scene.slackAtMost - DOUBT);
        }
      }),
      runs(500),
    );
  });

  test('without a slack and with room for all, it is exactly that', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const scene = new Scene();
        for (const now of all) {
          if (now.kind === 'lose') continue;
          scene.do(now.kind === 'pass' ? { ...now, slack: 0 } : now);
        }
        const counted = scene.account.charge + scene.account.owed + scene.letOff;
        expect(Math.abs(counted - (scene.taken - scene.expected))).toBeLessThanOrEqual(DOUBT);
      }),
      runs(500),
    );
  });

  test('no more may be taken than is its own, what the log does not know less, the credit and what came back more', () => {
    let credited = 0;
    fc.assert(
      fc.property(steps, amount, (all, own) => {
        const scene = new Scene();
        for (const now of all) {
          scene.do(now);
          const { unread } = scene.account;
          const takeable = scene.account.takeable(own, own, MAX);
          assert(takeable <= own + scene.creditMax + scene.cameBack - Math.max(0, unread) + DOUBT);
          assert(takeable <= own - unread + DOUBT);
          if (takeable > own) credited++;
        }
      }),
      runs(500),
    );
    expect(credited).toBeGreaterThan(partOf(1000));
  });

  test('a refund brings back at most itself', () => {
    fc.assert(
      fc.property(steps, amount, amount, (all, units, own) => {
        const scene = new Scene();
        for (const now of all) scene.do(now);
        const before = scene.account.takeable(own, own, MAX);
        scene.account.take(-units);
        expect(scene.account.takeable(own, own, MAX)).toBeGreaterThanOrEqual(before);
        expect(scene.account.takeable(own, own, MAX) - before).toBeLessThanOrEqual(units + DOUBT);
      }),
      runs(500),
    );
  });

  test('to take and to give back leaves no more than before, but for what was left and is not told', () => {
    fc.assert(
      fc.property(steps, amount, amount, (all, units, own) => {
        const scene = new Scene();
        for (const now of all) scene.do(now);
        const before = scene.account.takeable(own, own, MAX);
        const left = Math.max(0, own - scene.account.unread - before);
        scene.account.take(units);
        scene.account.take(-units);
        expect(scene.account.takeable(own, own, MAX)).toBeLessThanOrEqual(before + left + DOUBT);
      }),
      runs(500),
    );
  });
});

test('a node that takes only what it may takes no more than is its own, what is expected, the slack, and what is told', () => {
  fc.assert(
    fc.property(steps, amount, (all, own) => {
      const scene = new Scene();
      let told = 0;
      for (const now of all) {
        if (now.kind === 'refund' || now.kind === 'lose') continue;
        if (now.kind !== 'take') scene.do(now);
        else {
          const { account } = scene;
          scene.do({
            kind: 'take',
            units: Math.max(0, Math.min(now.units, account.takeable(own, own, MAX) - account.owed)),
          });
        }
        told = Math.max(told, scene.account.knownCharge);
        const most = own + scene.expected + scene.slackAtMost + told + scene.letOff;
        assert(scene.taken <= most + DOUBT);
      }
    }),
    runs(500),
  );
});
