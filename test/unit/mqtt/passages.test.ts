import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Passage, Passages } from '../../../src/doors/mqtt/gate-requests.js';
import type { GatedConnection } from '../../../src/doors/mqtt/gated-connection.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
let passages: Passages;
const client = { clientId: 'c' } as GatedConnection;
const passage = (where: Passage['where']): Passage => ({ where, direction: 'publish', topic: 't', bytes: 10 });
const admitted = (group: string) => scene.node.limiter.admitted.at(4 * scene.node.gate.groupIndex(group));

beforeAll(async () => {
  const scopes = {
    labs: 'free',
    'labs/full': { group: 'free', andBroader: true },
    stopped: 'blocked',
    'stopped/half': { group: 'free', andBroader: true },
    'labs/copies': { exempt: true },
  };
  scene = await readyScene({ attachments: { scopes } });
  passages = new Passages(scene.node);
});
afterAll(() => scene.close());

test('a message of a scope is charged to its group', () => {
  const before = admitted('free');
  expect(passages.try(client, passage({ tenant: 'labs', namespace: 'x' }))).toEqual({ passes: true });
  expect(admitted('free')).toBe(before + 1);
});

test('held back by any of its groups, and charged to none', () => {
  const before = admitted('free');
  const answer = passages.try(client, passage({ tenant: 'stopped', namespace: 'half' }));
  expect(answer).toEqual({ passes: false, reason: 'groupRate', isCounted: true });
  expect(admitted('free')).toBe(before);
});

test('joins those who wait in the line of any of its groups', () => {
  const { heldBack } = scene.node.limiter;
  const lane = 2 * scene.node.gate.groupIndex('blocked');
  heldBack[lane] = 1;
  const answer = passages.try(client, passage({ tenant: 'stopped', namespace: 'half' }));
  heldBack[lane] = 0;
  expect(answer).toEqual({ passes: false, reason: 'groupRate', isCounted: false });
});

test('exempt: passes, and counts apart', () => {
  expect(passages.try(client, passage({ tenant: 'labs', namespace: 'copies' }))).toEqual({ passes: true });
  expect(scene.node.gate.scopes.exempt[0]).toMatchObject({ requests: 1, bytes: 10 });
});
