import { expect, it } from 'vitest';
import { type AppliedChange, announceChanges } from '../../../src/node/groups/registry/group-registry.js';

it.each([
  [1, ['group defined at run time {"group":"g1","revision":1}']],
  [6, ['groups changed at run time {"count":6,"groups":"g1, g2, g3, g4, g5 and 1 more","revision":6}']],
  [0, []],
])('%i changes at once are told in few lines', (count, lines) => {
  const changes = Array.from({ length: count }, (_, at): AppliedChange => {
    return { kind: 'group defined', name: `g${at + 1}`, revision: at + 1 };
  });
  expect(linesOf(changes)).toEqual(lines);
});

it('an attachment is told with its scope', () => {
  expect(linesOf([{ kind: 'attachment changed', name: 'acme/orders', revision: 7 }])).toEqual([
    'attachment changed at run time {"scope":"acme/orders","revision":7}',
  ]);
});

function linesOf(changes: readonly AppliedChange[]): string[] {
  const lines: string[] = [];
  announceChanges({ log: (_, message, facts) => void lines.push(`${message} ${JSON.stringify(facts)}`) }, changes);
  return lines;
}
