import { afterEach, expect, expectTypeOf, test } from 'vitest';
import * as library from '../../../src/index.js';

/** What an embedder may call: whoever adds to it promises it. */
const FACE = [
  'acquire',
  'budgetOf',
  'close',
  'cluster',
  'consume',
  'containsTokens',
  'enter',
  'explain',
  'giveBudget',
  'groupStatus',
  'groups',
  'http',
  'isReady',
  'keys',
  'nodeId',
  'onBudget',
  'onFenced',
  'ready',
  'reportBackend',
  'reportCost',
  'reserve',
  'status',
  'takeBatch',
  'throttleDurationMs',
  'tryAcquire',
  'tryEnter',
  'usualWaitMs',
  'waitFor',
] as const;

let node: library.QuotaNode | null = null;

afterEach(() => node?.close());

test('a node shows its interface, and nothing of what it is made of', async () => {
  const config = { cluster: 'face', node: 'a', topic: { kind: 'none', nodeCount: 1 }, groups: { orders: {} } };
  node = await library.createNode({ config, env: {} });
  expectTypeOf<keyof library.QuotaNode>().toEqualTypeOf<(typeof FACE)[number]>();
  expect(Object.getOwnPropertyNames(node)).toEqual([]);
  const shown = Object.getOwnPropertyNames(Object.getPrototypeOf(node)).filter((name) => name !== 'constructor');
  expect(shown.sort()).toEqual([...FACE]);
});

test('the library exports a function that makes a node, one that counts nodes, and what errors are told by', () => {
  expect(Object.keys(library).sort()).toEqual([
    'ERROR_CATALOGUE',
    'QuotameshError',
    'VERSION',
    'createNode',
    'setNodeCount',
  ]);
});
