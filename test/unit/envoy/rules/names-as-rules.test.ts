import { describe, expect, it } from 'vitest';
import { descriptorName, NamesAsRules } from '../../../../src/doors/envoy/rules/names-as-rules.js';

describe('a descriptor without rules', () => {
  it.each([
    [
      'several entries',
      [
        ['user', 'alice'],
        ['path', '/login'],
      ],
      'edge/user:alice/path:~2Flogin',
    ],
    ['no value', [['all', '']], 'edge/all:'],
    ['a value that looks like another entry', [['user', 'a/path:b']], 'edge/user:a~2Fpath:b'],
    ['a key that looks like a value', [['user:a', 'b']], 'edge/user~3Aa:b'],
    ['the letter that encodes', [['user', '~2F']], 'edge/user:~7E2F'],
    ['letters of others', [['user', 'é']], 'edge/user:~C3~A9'],
  ])('is named: %s', (_, entries, name) => {
    expect(
      descriptorName(
        'edge',
        entries.map(([key = '', value = '']) => ({ key, value })),
      ),
    ).toBe(name);
  });

  it('is limited where its name is', () => {
    let nowMs = 0;
    const known = new Set(['edge/user:alice', 'edge/app:x']);
    const names = {
      ruleOf: (name: string) => (known.has(name) ? name : null),
      hasPrefix: (prefix: string) => [...known].some((name) => name.startsWith(prefix)),
    };
    const rules = new NamesAsRules(names, () => nowMs);
    const find = (value: string) => rules.find('edge', [{ key: 'user', value }]);
    expect(find('alice')?.bucketOf('edge', [{ key: 'user', value: 'alice' }])).toBe('edge/user:alice');
    expect(find('alice')?.name).toBe('edge/user:alice');
    expect(find('bob')).toBeNull();
    expect(rules.hasDomain('edge')).toBe(true);
    expect(rules.hasDomain('edg')).toBe(false);
    known.add('edg/user:x');
    expect(rules.hasDomain('edg')).toBe(false);
    nowMs += 1000;
    expect(rules.hasDomain('edg')).toBe(true);
  });
});
