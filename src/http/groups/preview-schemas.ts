import { z } from 'zod';
import { DEFINITION, json, listOf, QUOTA_AS_WRITTEN, RATES, record, text } from '../route/answer-schemas.js';

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

/** What a change with ?dryRun=true answers: nothing is changed. */
export const PREVIEW = json(
  'The answer to ?dryRun=true: the shares before and after the change, as the last reports give them.',
  PREVIEWED,
);

export const DEFINITION_OR_PREVIEW = json(
  'The group as it is now; with ?dryRun=true what would follow.',
  z.union([DEFINITION.content['application/json'].schema, PREVIEWED]),
);
