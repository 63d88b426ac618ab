import { z } from 'zod';
import {
  DEFINITION,
  json,
  KEY_DEFINITION,
  listOf,
  QUOTA_AS_WRITTEN,
  RATES,
  record,
  text,
} from '../route/answer-schemas.js';

const DIRECTION = record({
  quota: RATES,
  quotaAsWritten: QUOTA_AS_WRITTEN,
  target: RATES,
  nodes: listOf(record({ nodeId: text, demand: RATES, share: RATES })),
});

const GROUP = record({ publish: DIRECTION, dispatch: DIRECTION }).nullable();

const PREVIEWED = record({
  group: text,
  dryRun: z.literal(true),
  definition: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'What would be in force; null means that there would be no such group.' }),
  before: GROUP,
  after: GROUP,
});

/** Answer to a change with ?dryRun=true, which changes nothing. */
export const PREVIEW = json(
  'The answer to ?dryRun=true: the shares before and after the change, as the last reports give them.',
  PREVIEWED,
);

export const DEFINITION_OR_PREVIEW = json(
  'The group as it is now; with ?dryRun=true what would follow.',
  z.union([DEFINITION.content['application/json'].schema, PREVIEWED]),
);

const WRITTEN = z.record(z.string(), z.unknown()).nullable();
const KEYS_PREVIEWED = record({
  kind: z.enum(['template', 'key']),
  name: text,
  dryRun: z.literal(true),
  before: WRITTEN,
  after: WRITTEN,
});

export const KEY_PREVIEW = json(
  'The answer to ?dryRun=true: the definition before and after the change, as YAML would write it; null where it is not defined.',
  KEYS_PREVIEWED,
);

export const KEY_DEFINITION_OR_PREVIEW = json(
  'The definition as it is now; with ?dryRun=true before and after the change.',
  z.union([KEY_DEFINITION.content['application/json'].schema, KEYS_PREVIEWED]),
);
