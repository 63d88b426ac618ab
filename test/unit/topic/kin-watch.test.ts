import { expect, it } from 'vitest';
import { nodeKeyOf } from '../../../src/core/base/ids.js';
import { nodeRecordKey, reportRecordKey } from '../../../src/core/base/protocol/record.js';
import { KinWatch } from '../../../src/topic/signed/kin-watch.js';

const [OWN, KIN, STRANGER] = ['own', 'kin', 'stranger'].map((id) => nodeRecordKey(nodeKeyOf('c', id)));
const REPORT = reportRecordKey(nodeKeyOf('c', 'stranger'), 0);

function watchAt(): { kin: KinWatch; pass: (ms: number) => void; sleep: (ms: number) => void } {
  let nowMs = 0;
  const kin = new KinWatch({ ownKey: OWN, kinMs: 3000, strangerMs: 5000 }, () => nowMs);
  /** In steps of a heartbeat, as a node looks. */
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= 1000) {
      nowMs += Math.min(left, 1000);
      void kin.isApart;
    }
  };
  return { kin, pass, sleep: (ms) => (nowMs += ms) };
}

it('is apart as soon as a stranger is there and nobody else signs alike, until the stranger is silent', () => {
  const { kin, pass } = watchAt();
  kin.read(OWN, true);
  expect([kin.isApart, kin.strangers]).toEqual([false, 0]);
  kin.read(STRANGER, false);
  expect([kin.isApart, kin.strangers]).toEqual([true, 1]);
  pass(4999);
  expect(kin.isApart).toBe(true);
  pass(2);
  expect([kin.isApart, kin.strangers]).toEqual([false, 0]);
});

it('takes nobody for gone because this process slept', () => {
  const { kin, pass, sleep } = watchAt();
  kin.read(STRANGER, false);
  sleep(3_600_000);
  expect(kin.isApart).toBe(true);
  kin.read(KIN, true);
  sleep(3_600_000);
  expect(kin.isApart).toBe(false);
  pass(5001);
  expect(kin.strangers).toBe(0);
});

it('is not apart while one other signs alike, however many strangers there are', () => {
  const { kin, pass } = watchAt();
  for (let second = 0; second < 60; second++) {
    kin.read(KIN, true);
    for (let id = 0; id < 100; id++) kin.read(nodeRecordKey(nodeKeyOf('c', `stranger-${id}`)), false);
    expect(kin.isApart).toBe(false);
    pass(1000);
  }
  expect(kin.strangers).toBe(100);
  pass(2001);
  expect(kin.isApart).toBe(true);
});

it('is not apart by what is no word of a node, and remembers no more than 1,000 strangers', () => {
  const { kin } = watchAt();
  kin.read(REPORT, false);
  kin.read('any thing at all', false);
  expect(kin.isApart).toBe(false);
  for (let id = 0; id < 3000; id++) kin.read(nodeRecordKey(nodeKeyOf('c', `stranger-${id}`)), false);
  expect(kin.strangers).toBe(1000);
});

it('takes a stranger under its own name for one, too', () => {
  const { kin } = watchAt();
  kin.read(OWN, false);
  expect(kin.isApart).toBe(true);
});

it('forgets strangers with the log, and not that others were there', () => {
  const { kin, pass } = watchAt();
  kin.read(KIN, true);
  pass(2000);
  kin.epochBegan();
  kin.read(STRANGER, false);
  expect(kin.isApart).toBe(false);
  pass(1001);
  expect(kin.isApart).toBe(true);
});
