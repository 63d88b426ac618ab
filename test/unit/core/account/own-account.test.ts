import { beforeEach, describe, expect, test } from 'vitest';
import { OwnAccount } from '../../../../src/core/account/own-account.js';

let account: OwnAccount;
beforeEach(() => {
  account = new OwnAccount();
});

/** A second in which 80 are expected, the slack pays 20 and 8 units of credit are kept. */
function second(seconds = 1): void {
  account.pass(seconds, 80, 8);
  account.payBySlack(20 * seconds);
}

describe('what is charged', () => {
  test('what was taken beyond what was expected, and what the slack did not pay', () => {
    account.take(130);
    second();
    expect(account.charge).toBe(30);
  });

  test('the slack pays no more than there is', () => {
    account.take(90);
    second();
    expect(account.charge).toBe(0);
  });

  test('less than nothing where less was taken: it flows into the cluster’s bucket', () => {
    account.take(50);
    second();
    expect([account.charge, account.unheard]).toEqual([-30, -30]);
  });

  test('what a record says already is not lost here: the bucket takes of it what it has room for', () => {
    const account = new OwnAccount();
    account.tell();
    account.readBack(0);
    account.pass(1, 30, 0);
    account.tell();
    // Others have filled the bucket meanwhile.
    account.loseAbove(0);
    expect([account.charge, account.untold]).toEqual([-30, 0]);
    account.pass(1, 5, 0);
    // The record takes 30 of a room of 32.
    account.loseAbove(32);
    expect(account.charge).toBe(-32);
    account.readBack(-30);
    expect([account.unheard, account.untold]).toEqual([-2, -2]);
  });

  test('what has no room in the bucket is lost', () => {
    account.take(50);
    second();
    account.loseAbove(10);
    expect(account.charge).toBe(-10);
    account.loseAbove(25);
    expect(account.charge).toBe(-10);
  });

  test('what the log knows is not paid by the slack any more', () => {
    account.take(130);
    account.knownCharge = account.tell();
    second();
    expect(account.charge).toBe(50);
    expect(account.unheard).toBe(-80);
  });
});

describe('what may be taken', () => {
  test('what is its own of the cluster’s bucket', () => {
    expect(account.takeable(40, 40, 100)).toBe(40);
  });

  test('less what the log does not know', () => {
    account.take(30);
    expect(account.takeable(40, 40, 100)).toBe(10);
    account.take(30);
    expect(account.takeable(40, 40, 100)).toBe(-20);
  });

  test('not less what it took of its part of a silent key, until its record is back', () => {
    account.takeSilent(20);
    account.take(20);
    expect([account.takeable(19, 39, 100), account.takeable(10, 39, 100), account.takeable(19, 0, 100)]).toEqual([
      19, 10, -1,
    ]);
    account.readBack(account.tell());
    account.take(1);
    expect(account.takeable(19, 39, 100)).toBe(18);
  });

  test('more by what was not taken when it was expected, as far as it is kept', () => {
    second(0.05);
    expect(account.takeable(0, 0, 100)).toBe(4);
    second();
    expect([account.unheard, account.takeable(0, 0, 100)]).toEqual([-84, 8]);
    account.take(5);
    expect(account.takeable(0, 0, 100)).toBe(3);
  });

  test('a refund brings back what it had taken, told or not, up to a bound', () => {
    account.take(30);
    account.take(-30);
    expect(account.takeable(40, 40, 100)).toBe(40);
    account.take(-30);
    expect([account.takeable(40, 40, 100), account.takeable(40, 40, 20)]).toEqual([70, 60]);
    expect(account.charge).toBe(-30);
  });
});

describe('what the log knows', () => {
  test('nothing until a record is read back, and no record says it until it is told', () => {
    account.take(30);
    expect([account.unheard, account.untold]).toEqual([30, 30]);
    const told = account.tell();
    expect([account.unheard, account.untold]).toEqual([30, 0]);
    account.take(5);
    account.knownCharge = told;
    expect([account.unheard, account.untold]).toEqual([5, 5]);
  });

  test('nothing once the lane has no entry: the next one charges what none has told', () => {
    account.take(30);
    account.knownCharge = account.tell();
    account.take(2);
    account.forget();
    expect([account.charge, account.unheard, account.untold, account.takeable(40, 40, 100)]).toEqual([2, 2, 2, 38]);
  });
});

describe('what the bucket cannot bear', () => {
  test('is owed, to a bound, and paid of what the node may take', () => {
    account.take(3000);
    account.owe(Infinity, 50, 300);
    expect([account.unheard, account.owed]).toEqual([50, 300]);
    expect(account.pay(40)).toBe(40);
    expect([account.unheard, account.owed]).toEqual([90, 260]);
    expect(account.pay(-5)).toBe(0);
  });

  test('is not let off when the bound falls, and nothing else is owed', () => {
    account.take(400);
    account.owe(Infinity, 50, 300);
    account.take(10);
    account.owe(Infinity, 50, 100);
    expect(account.owed).toBe(300);
    account.owe(Infinity, 100, 300);
    expect([account.unheard, account.owed]).toEqual([50, 300]);
  });

  test('never takes back what a record says', () => {
    account.take(400);
    account.tell();
    account.owe(Infinity, 50, 300);
    expect([account.charge, account.owed]).toEqual([400, 0]);
  });
});
