import { describe, expect, it } from 'vitest';
import { idProblem, ordersOf, textOf } from '../../../../src/doors/envoy/quota/bucket-id.js';

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'x']));

describe('the id of a bucket', () => {
  it('is the same in any order, and no value passes for another', () => {
    expect(textOf({ user: 'a', path: '/' })).toBe(textOf({ path: '/', user: 'a' }));
    expect(textOf({ user: 'a","path' })).not.toBe(textOf({ user: 'a', path: '' }));
  });

  it.each([
    ['without entries', {}, 'has no entries'],
    ['with too many', many(17), 'has 17 entries; at most 16 are allowed'],
    ['too long', { user: 'é'.repeat(511) }, 'has 1026 bytes; at most 1024 are allowed'],
    ['as long as may be', { user: 'é'.repeat(510) }, null],
  ])('%s', (_, id, problem) => {
    expect(idProblem(id)).toBe(problem);
  });

  it('is read in every order up to four entries, by key first', () => {
    const orders = (id: Record<string, string>) => [...ordersOf(id)].map((order) => order.map(({ key }) => key).join());
    expect(orders({ user: 'a', path: '/' })).toEqual(['path,user', 'user,path']);
    expect(orders(many(4))).toHaveLength(24);
    expect(orders(many(5))).toEqual(['key0,key1,key2,key3,key4']);
  });
});
