import { expect, it } from 'vitest';
import { lineOf } from '../../../src/tools/cli/look/show-audit.js';

it('a record that another program wrote does not steer the terminal', () => {
  const line = lineOf({
    revision: 1,
    time: null,
    node: 'a\u001b[2J',
    who: { name: '\u202eops', how: '\n', requestId: 'r' },
    what: 'changed',
    kind: 'group',
    name: 'x\u0007',
    before: { '\u001b': 1 },
    after: { __proto__: null, n: '\u009b' },
    withGroup: null,
  });
  expect(line).toBe('1 ? a\\u{1b}[2J \\u{202e}ops (\\u{a}) changed group x\\u{7}: \\u{1b} 1 → -, n - → "\\u{9b}"');
});
