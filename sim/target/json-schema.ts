import { z } from 'zod';
import { editorSchema } from '../../src/config/describe/json-schema.js';
import { LIMITING } from '../../src/config/schema/target.js';
import { mapping } from '../scenario/json-schema.js';
import {
  CAPACITY_FIELDS,
  EXPECTED_FIELDS,
  PHASE_FIELDS,
  TARGET_LISTS,
  TARGET_SCENARIO_FIELDS,
} from './target-fields.js';

/** Makes JSON Schema (draft 7) of backends' scenarios; the check is stricter. */
export function targetScenarioJsonSchema(): Readonly<Record<string, unknown>> {
  const list = (key: keyof typeof TARGET_LISTS) => z.array(mapping(TARGET_LISTS[key]));
  const phase = mapping(PHASE_FIELDS).extend({
    groups: list('groups').optional(),
    backends: z.array(mapping(CAPACITY_FIELDS)).optional(),
    expect: z.array(mapping(EXPECTED_FIELDS)).optional(),
  });
  const schema = mapping(TARGET_SCENARIO_FIELDS).extend({
    limiting: editorSchema(LIMITING, 'limiting').optional(),
    backends: list('backends'),
    groups: list('groups'),
    clients: list('clients'),
    phases: z.array(phase),
  });
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
}
