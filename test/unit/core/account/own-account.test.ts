import { beforeEach, describe, expect, test } from 'vitest';
import { OwnAccount } from '../../../../src/core/account/own-account.js';

let account: OwnAccount;
beforeEach(() => {
  account = new OwnAccount();
});

describe('what the bucket cannot bear', () => {
  test('is owed, to a bound, and paid of what the node may take', () => {
    account.take(3000);
    account.owe(Infinity, 50, 300);
    expect([account.unread, account.owed]).toEqual([50, 300]);
    expect(account.pay(40)).toBe(40);
    expect([account.unread, account.owed]).toEqual([90, 260]);
    expect(account.pay(-5)).toBe(0);
  });

  test('is not let off when the bound falls, and nothing else is owed', () => {
    account.take(400);
    account.owe(Infinity, 50, 300);
    account.take(10);
    account.owe(Infinity, 50, 100);
    expect(account.owed).toBe(300);
    account.owe(Infinity, 100, 300);
    expect([account.unread, account.owed]).toEqual([50, 300]);
  });

  test('never takes back what a record says', () => {
    account.take(400);
    account.publish();
    account.owe(Infinity, 50, 300);
    expect([account.charge, account.owed]).toEqual([400, 0]);
  });
});

test('a refund of a full bucket comes back while the record that charged it is on its way', () => {
  account.take(200);
  account.publish();
  account.take(-60);
  account.loseAbove(0);
  expect(account.unread).toBe(140);
  account.readBack(200);
  account.loseAbove(200);
  expect(account.unread).toBe(-60);
});

test('expected use that was not taken is lost at a full bucket while a charge is on its way', () => {
  account.take(200);
  account.publish();
  account.pass(1, 60, 0);
  account.loseAbove(0);
  expect(account.unread).toBe(200);
});
