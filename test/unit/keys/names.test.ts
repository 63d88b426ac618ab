import { expect, test } from 'vitest';
import { RateLimitFields } from '../../../src/doors/http/acquire/rate-limit-fields.js';
import { keyEntryOf, putKeys } from '../../../src/node/groups/changes/change-keys.js';
import type { WholeNode } from '../../whole-node.js';
import { onOneNode, PER_MINUTE, withKeys } from './keys-cluster.js';

/** What people have, and what those send who want no limit. */
const NAMES = [
  '',
  '2001:db8::/56',
  'fe80::1%eth0/56',
  'auth0|65f0c1',
  'arn:aws:iam::123456789012:role/service/orders',
  'c2VjcmV0L2tleQ==',
  'Jürgen Müller',
  'Ju\u0308rgen Mu\u0308ller',
  '😀😀',
  'a b',
  'a',
  '%61',
  'a%2Fb',
  'a/b',
  '..',
  '../../etc',
  '__proto__',
  'constructor',
  'undefined',
  '"; drop',
  '\\',
  '\0',
  'a\nlevel=error',
  '\u001b[2J',
  '\u202eevil',
  'x'.repeat(300),
  `${'x'.repeat(299)}y`,
  'x'.repeat(1024),
  '😀'.repeat(256),
  'x'.repeat(1e6),
];
const ONE = { messages: 1 };

test('any text is the name of a key of its own, silent and loud, and is shown as it is', async () => {
  await withKeys(2, { 'key:{id}': PER_MINUTE(60) }, async ({ nodes, time }) => {
    const [a, b] = nodes as [WholeNode, WholeNode];
    await time.advance(120_000);
    for (const id of NAMES) {
      // One of two nodes has half of it unpublished, and then the key is loud.
      let granted = 0;
      while (granted < 200 && a.tryAcquire(`key:${id}`, ONE).granted) granted++;
      expect(granted, id.slice(0, 20)).toBeGreaterThanOrEqual(30);
      expect(granted, id.slice(0, 20)).toBeLessThanOrEqual(61);
    }
    expect(a.keys?.counts.get('key:{id}')?.made).toBe(NAMES.length);
    const shown = [...a.keys!.shown()].map(([name]) => name);
    for (const id of NAMES) if (id.length <= 196) expect(shown).toContain(`key:${id}`);
    for (const name of shown) expect(name.length).toBeLessThanOrEqual(200);
    // The other node has read of them, and whole texts and shown names are the same keys.
    await time.advance(1000);
    for (const id of NAMES) expect(b.tryAcquire(`key:${id}`, ONE).granted, id.slice(0, 20)).toBe(false);
    for (const name of shown) expect(a.tryAcquire(name, ONE).granted, name.slice(0, 20)).toBe(false);
    expect(a.keys?.counts.get('key:{id}')?.made).toBe(NAMES.length);
  });
});

test('halves of surrogate pairs are no text: they are one key, which is limited', async () => {
  await onOneNode({ 'key:{id}': PER_MINUTE(60) }, async (node) => {
    const texts = ['key:\ud800', 'key:\udfff', 'key:\ufffd'];
    let granted = 0;
    for (let at = 0; at < 300; at++) if (node.tryAcquire(texts[at % 3], ONE).granted) granted++;
    expect(granted).toBe(60);
  });
});

test('two long values of one name are told apart, whichever is long', async () => {
  await onOneNode({ 'tenant:{t}/user:{u}': PER_MINUTE(1) }, async (node) => {
    const long = 'x'.repeat(400);
    for (const name of [`tenant:${long}/user:${long}`, `tenant:${long}/user:y`, `tenant:y/user:${long}`]) {
      expect([node.tryAcquire(name, ONE).granted, node.tryAcquire(name, ONE).granted]).toEqual([true, false]);
    }
  });
});

test('settings of its own are found by the text that a request names', async () => {
  const keys = {
    'key:{id}': { ...PER_MINUTE(1), overrides: { 'Jürgen Müller': PER_MINUTE(5), 'a/b': PER_MINUTE(5) } },
  };
  await withKeys(1, keys, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    await time.advance(1000);
    const long = `key:${'x'.repeat(300)}`;
    const by = { name: 'test', how: 'library', requestId: '1', atMs: 0 };
    const puts = [long, 'key:a\n'].map((text) => putKeys(node, keyEntryOf('key', text), PER_MINUTE(5), null, by));
    await time.advance(120_000);
    await Promise.all(puts);
    for (const name of ['key:Jürgen Müller', 'key:a/b', 'key:a\n', long]) {
      let granted = 0;
      while (granted < 20 && node.tryAcquire(name, ONE).granted) granted++;
      expect(granted, name.slice(0, 20)).toBe(5);
    }
  });
});

test('header fields hold any name', async () => {
  await withKeys(1, { 'key:{id}': PER_MINUTE(60) }, async ({ nodes: [node], time }) => {
    await time.advance(1000);
    const fields = new RateLimitFields(node);
    const names = NAMES.map((id) => {
      const { policy } = fields.ofKey(`key:${id}`, node.keys!.usedNow(`key:${id}`), 'publish');
      return policy.replace(/;q=.*/, '');
    });
    for (const name of names) expect(name).toMatch(/^"[ !#-[\]-~]*"$/);
    expect(new Set(names).size).toBe(NAMES.length);
    expect(names).toContain('"key:2001:db8::/56-publish-messages"');
    expect(names).toContain('"key:J%C3%BCrgen M%C3%BCller-publish-messages"');
  });
});
