import { DEFINITION, json, listOf, RATES, record } from '../route/answer-schemas.js';

const text = { type: 'string' } as const;

const DIRECTION = record({
  quota: RATES,
  target: RATES,
  nodes: listOf(record({ nodeId: text, demand: RATES, share: RATES })),
});

const GROUP = { oneOf: [record({ publish: DIRECTION, dispatch: DIRECTION }), { type: 'null' }] };

const PREVIEWED = record({
  group: text,
  dryRun: { type: 'boolean', enum: [true] },
  definition: { type: ['object', 'null'], description: 'null = there would be no such group.' },
  before: GROUP,
  after: GROUP,
});

/** What a change with ?dryRun=true answers: nothing is changed. */
export const PREVIEW = json('With ?dryRun=true: the shares that the last reports give, before and after.', PREVIEWED);

export const DEFINITION_OR_PREVIEW = json('The group as it is now; with ?dryRun=true what would follow.', {
  oneOf: [DEFINITION.content['application/json'].schema, PREVIEWED],
});
