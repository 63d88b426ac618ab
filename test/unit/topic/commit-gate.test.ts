import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { CommitGate, type GateHold } from '../../../src/topic/embedded/commit-gate.js';

const DEADLINE_MS = 10_000;

/** Two processes' gates of one log. */
function twoGates(): [CommitGate, CommitGate] {
  const name = `quotamesh-gate-test/${randomUUID()}`;
  return [new CommitGate(name), new CommitGate(name)];
}

async function entered(gate: CommitGate): Promise<GateHold> {
  const hold = await gate.enter(AbortSignal.timeout(DEADLINE_MS));
  if (hold === undefined) throw new Error(`nobody left for ${DEADLINE_MS} ms`);
  return hold;
}

/** Turns of the event loop in which sockets and their ends are told. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
}

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

test('one is inside at a time, and whoever waits comes before the one that has just left', async () => {
  const [one, other] = twoGates();
  const order: string[] = [];
  for (let round = 0; round < 5; round++) {
    const hold = await entered(one);
    const waiting = entered(other).then((next) => {
      order.push('waited');
      return next;
    });
    await turns(4);
    expect(order).toEqual([]);
    hold.leave();
    const again = entered(one).then((next) => {
      order.push('had left');
      return next;
    });
    (await waiting).leave();
    (await again).leave();
    expect(order.splice(0)).toEqual(['waited', 'had left']);
  }
});

test('gives way only where somebody waits', async () => {
  const [gate] = twoGates();
  const hold = await entered(gate);
  hold.leave();
  const signal = new AbortController().signal;
  const before = timers();
  const entering = gate.enter(signal);
  // To give way is to wait for a timer.
  expect(timers()).toBe(before);
  (await entering)?.leave();
});

test('whoever gives up waiting is let go at once, and is not let in later', async () => {
  const [one, other] = twoGates();
  const hold = await entered(one);
  const giveUp = new AbortController();
  const waiting = other.enter(giveUp.signal);
  await turns(2);
  giveUp.abort();
  expect(await waiting).toBeUndefined();
  hold.leave();
  (await entered(one)).leave();
  expect(await other.enter(giveUp.signal)).toBeUndefined();
});
