import { describe, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type {
  BACKEND,
  EXPLAINED,
  GROUP_STATUS,
  KEY_STATUS,
  NODE_STATUS,
} from '../../../src/doors/http/route/answer-schemas.js';
import type { GroupExplanation } from '../../../src/node/api/group-explanation.js';
import type { GroupStatus, KeyStatus, NodeStatus } from '../../../src/node/api/node-status.js';
import type { BackendStatus } from '../../../src/node/status/describe-backends.js';

/** What a schema of an answer describes. */
type Answer<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

/** Interfaces of src/node/api are readonly; what zod infers is not. Intersections are written out. */
type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

/** Held by the compiler (tsc checks tests); at run time these say nothing. */
describe('answers are the interfaces that embedders get', () => {
  it('groups, explanations, backends', () => {
    expectTypeOf<Answer<typeof GROUP_STATUS>>().toEqualTypeOf<Frozen<GroupStatus>>();
    expectTypeOf<Answer<typeof KEY_STATUS>>().toEqualTypeOf<Frozen<KeyStatus>>();
    expectTypeOf<Answer<typeof EXPLAINED>>().toEqualTypeOf<Frozen<GroupExplanation>>();
    expectTypeOf<Answer<typeof BACKEND>>().toEqualTypeOf<Frozen<BackendStatus>>();
  });

  it('the node: beside it stands who is let in; counters have names of their own', () => {
    type Told = Answer<typeof NODE_STATUS>;
    expectTypeOf<Omit<Told, 'access' | 'topic'>>().toEqualTypeOf<Frozen<Omit<NodeStatus, 'topic'>>>();
    expectTypeOf<Omit<Told['topic'], 'counters'>>().toEqualTypeOf<Omit<Frozen<NodeStatus>['topic'], 'counters'>>();
  });
});
