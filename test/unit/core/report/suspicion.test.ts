import { expect, test } from 'vitest';
import { nodeKeyOf } from '../../../../src/core/base/ids.js';
import { OneNode } from '../machine/one-node.js';

/** When the node wrote a heartbeat, in milliseconds from now on. */
function beats(node: OneNode, durationMs: number, each = () => {}): number[] {
  const from = node.nowMs;
  const times: number[] = [];
  node.run(durationMs, {
    echo: false,
    each: () => {
      each();
      if (node.sent.some(({ record }) => record?.kind === 'node')) times.push(node.nowMs - from);
      node.echo();
    },
  });
  return times;
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, at) => time - times[at]);
}

test('a death is noticed 5 s after the last sign of life, not with the next heartbeat', () => {
  const node = OneNode.ready();
  node.run(300);
  node.read(node.by('silent', 'node'));
  const from = node.nowMs;
  let noticedMs = Number.NaN;
  const each = () => {
    if (Number.isNaN(noticedMs) && node.told('member-expired').length > 0) noticedMs = node.nowMs - from;
  };
  node.run(8000, { each });
  // A round behind, and another one to read it.
  expect(noticedMs).toBe(node.settings.stalenessMs + 2 * node.settings.sampleIntervalMs);
});

test('while somebody is suspected and log time stands still, heartbeats come every 250 ms', () => {
  const node = OneNode.ready();
  node.read(node.by('silent', 'node'));
  expect(Math.min(...gapsOf(beats(node, 5000)))).toBe(1000);
  const times: number[] = [];
  const each = () => node.lose().some(({ record }) => record?.kind === 'node') && times.push(node.nowMs);
  node.run(1000, { echo: false, each });
  // Rounds are 20 ms apart.
  expect(gapsOf(times)).toEqual([260, 260, 260]);
});

test.each([0, 1, 2])('one of three that is silent is suspected, wherever it stands among the others: %i', (silent) => {
  const node = OneNode.ready();
  const others = ['x', 'y', 'z'].sort((one, other) => {
    return nodeKeyOf(node.settings.cluster, one) - nodeKeyOf(node.settings.cluster, other);
  });
  for (const id of others) node.read(node.by(id, 'node'));
  let rounds = 0;
  // Log time moves by half a second only, so that nobody is given up, but time by which they are suspected goes on.
  const hurried: number[] = [];
  node.run(7000, {
    echo: false,
    each: () => {
      if (node.lose().some(({ record }) => record?.kind === 'node')) hurried.push(node.nowMs);
      if (rounds++ % 50 === 0) for (const [at, id] of others.entries()) if (at !== silent) sayAgain(node, id);
    },
  });
  const gaps = gapsOf(hurried);
  expect(gaps.filter((gap) => gap < 300).length).toBeGreaterThan(3);
});

/** A sign of life for which the log's clock does not go on. */
function sayAgain(node: OneNode, id: string): void {
  const { logClockMs } = node;
  node.logClockMs = 5_000_000;
  node.read(node.by(id, 'node'));
  node.logClockMs = logClockMs;
}

test('nobody hurries while everybody gives a sign of life', () => {
  const node = OneNode.ready();
  let rounds = 0;
  const each = () => rounds++ % 50 === 0 && node.read(node.by('other', 'node'));
  expect(Math.min(...gapsOf(beats(node, 12_000, () => void each())))).toBe(1000);
});

test('nor is a node its own suspect', () => {
  const node = OneNode.ready();
  expect(Math.min(...gapsOf(beats(node, 12_000)))).toBe(1000);
});
