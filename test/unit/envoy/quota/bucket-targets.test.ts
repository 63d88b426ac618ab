import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentTelemetry } from '../../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { directionIndex, laneOf } from '../../../../src/core/base/vocabulary.js';
import { limitedNames } from '../../../../src/doors/envoy/limited-names.js';
import { bucketTarget } from '../../../../src/doors/envoy/quota/bucket-targets.js';
import { NamesAsRules } from '../../../../src/doors/envoy/rules/names-as-rules.js';
import { createMemoryLog } from '../../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../../whole-node.js';
import { domainsOf } from '../known-domains.js';

const quota = { publish: { messagesPerSecond: 10 } };
const GROUPS = {
  'edge/user:alice': { quota },
  'edge/user:alice/path:~2Flogin': { quota },
  'edge/strict:': { promise: 'strict', quota },
  'edge/budget:': { budget: { messages: 10, per: 'month' }, quota },
  'edge/slots:': { concurrency: 4, quota },
  'edge/large:': { quota: { publish: { messagesPerSecond: 10, bytesPerSecond: 1000 } } },
};

describe('what limits a bucket', () => {
  let node: WholeNode;
  beforeAll(async () => {
    const written = {
      cluster: 'test',
      node: 'a',
      topic: 'memory',
      groups: GROUPS,
      keys: { 'edge/key:{id}': { quota } },
    };
    const config = resolveConfig(written, { source: '(test)' });
    const topic = new MemoryTopic(createMemoryLog());
    const clock = () => performance.now();
    node = new WholeNode({ config, topic, telemetry: silentTelemetry, version: '0', nonce: 1, clock });
    await node.start();
  });
  afterAll(() => node.close());

  const targetOf = (id: Record<string, string>, domain = 'edge', setting: 'allow' | 'refuse' = 'allow') => {
    const { gate, groups, clock } = node;
    const rules = new NamesAsRules(limitedNames(node), clock);
    return bucketTarget({ gate, groups, rules, domains: domainsOf(rules, setting) }, domain, id);
  };
  const laneNamed = (group: string) => laneOf(node.gate.groupIndex(group), directionIndex('publish'));

  it('is the group of its name, whatever the order of its entries', () => {
    expect(targetOf({ user: 'alice' })).toEqual({ kind: 'lane', lane: laneNamed('edge/user:alice') });
    const lane = laneNamed('edge/user:alice/path:~2Flogin');
    expect(targetOf({ path: '/login', user: 'alice' })).toEqual({ kind: 'lane', lane });
  });

  it('is a key of a template, each value its own', () => {
    const [one, other] = ['one', 'other'].map((key) => targetOf({ key }));
    expect(one).toEqual({ kind: 'lane', lane: laneNamed('edge/key:one') });
    expect(other).not.toEqual(one);
  });

  it.each([
    ['strict', 'is strict'],
    ['budget', 'has a budget'],
    ['slots', 'limits concurrency'],
  ])('is none where the log decides: a share is spent without it (%s)', (key, what) => {
    const reason = `group edge/${key}: ${what}, and Envoy spends a share without asking the log`;
    expect(targetOf({ [key]: '' })).toEqual({ kind: 'none', reason });
  });

  it('is nothing for names and domains that nobody has limited', () => {
    expect(targetOf({ user: 'bob' })).toEqual({ kind: 'allow' });
    expect(targetOf({ user: 'alice' }, 'other')).toEqual({ kind: 'allow' });
    expect(targetOf({ user: 'bob' }, 'edge', 'refuse')).toEqual({ kind: 'allow' });
    expect(targetOf({ user: 'alice' }, 'other', 'refuse')).toEqual({ kind: 'deny' });
  });

  it('is what a rule says of the first of its descriptors that it has', () => {
    const { gate, groups } = node;
    const read: string[] = [];
    const rule = {
      name: 'rule',
      at: '',
      metadata: null,
      isQuota: false,
      label: '',
      replaces: [],
      bucketOf: () => 'edge/user:alice',
    };
    const targetBy = (isUnlimited: boolean) => {
      const find = (_: string, entries: readonly { readonly key: string }[]) => {
        const order = entries.map(({ key }) => key).join();
        read.push(order);
        return order === 'user,path' ? { ...rule, isUnlimited } : null;
      };
      const rules = { hasDomain: () => true, find };
      return bucketTarget({ gate, groups, rules, domains: domainsOf(rules) }, 'edge', { user: 'bob', path: '/' });
    };
    expect(targetBy(false)).toEqual({ kind: 'lane', lane: laneNamed('edge/user:alice') });
    expect(targetBy(true)).toEqual({ kind: 'allow' });
    expect(read.slice(0, 2)).toEqual(['path,user', 'user,path']);
  });

  it('cannot be bytes: Envoy counts none', () => {
    const reason = 'group edge/large: limits bytes, and Envoy counts requests';
    expect(targetOf({ large: '' })).toEqual({ kind: 'none', reason });
  });
});
