import { z } from 'zod';
import { DIMENSIONS, DIRECTIONS } from '../../../core/base/vocabulary.js';
import { count, GROUP_STATUS, json, listOf, number, record, text, yes } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { choice, once } from '../route/fields.js';
import { withAllowed } from '../route/wording.js';
import { MEMBER, TEMPLATE } from '../status/node-schemas.js';

/** Most groups listed at once: a 4k screen's lines. */
export const LINES_MAX = 120;
/** Largest number of a first line, above any number of groups. */
const FIRST_LINE_MAX = 9_999_999;
const HISTORY_SECONDS = 900;
/** Longest recording in seconds. */
export const RECORDING_SECONDS_MAX = 900;

const group = once('Shows this group closely.');

export const LIVE_QUERY = body({
  order: choice(
    ['heat', 'name'],
    'The order of the list of groups; heat is what is wanted, in quotas.',
  ).exactOptional(),
  find: once('Lists only groups with this text in their name.'),
  from: whole(FIRST_LINE_MAX, 'The first line of the list, from 0 on.').exactOptional(),
  count: whole(LINES_MAX, 'How many lines of the list are shown.').exactOptional(),
  group,
});

export const HISTORY_QUERY = body({
  group,
  direction: choice(DIRECTIONS, 'The direction of the group.').exactOptional(),
  ago: whole(HISTORY_SECONDS, 'Lists groups as they were so many seconds ago.').exactOptional(),
});

export const RECORDING_QUERY = body({
  seconds: whole(RECORDING_SECONDS_MAX, 'How many seconds the recording lasts.'),
});

const FIGURES = listOf(number.nullable());
const SIGNED_FIGURES = listOf(z.number().nullable());

const HISTORY_ROW = {
  group: text,
  direction: z.enum(DIRECTIONS),
  dimension: z.enum(DIMENSIONS),
  quota: number.nullable(),
  admitted: number,
  wanted: number,
};

const GROUP_ROW = record({
  ...HISTORY_ROW,
  throttledNodes: count.meta({ description: 'How many nodes want more than they are admitted.' }),
  strategy: text,
  enabled: yes,
});

const GROUP_LIST = record({
  total: count,
  found: count,
  from: count,
  rows: listOf(GROUP_ROW),
  unnamed: count.meta({ description: 'Directions in use at other nodes whose names this node does not know.' }),
});

const NODE_LIVE = record({
  atMs: number,
  cluster: text,
  nodeId: text,
  version: text,
  phase: text,
  ready: yes,
  notReadyBecause: listOf(text),
  degraded: listOf(text),
  uptimeMs: number,
  members: listOf(MEMBER),
  reportRoundTripMs: number,
  lastRebalancingMs: number,
  keys: listOf(TEMPLATE),
  topicLagMs: number.nullable(),
  topic: record({ kind: text, partitions: count, lost: text.nullable(), pendingAppends: count }),
  canChange: yes,
});

const GROUP_LIVE = GROUP_STATUS.extend({
  template: text.nullable().meta({ description: 'The pattern of the template that makes this key; null = no key.' }),
});

export const LIVE_NOW = json(
  'What the page shows, once. With `Accept: text/event-stream` the same is pushed: an event `node`, `groups` or ' +
    '`group` a second for whatever has changed, and `ended` with the reason before the node ends the stream.',
  record({
    node: NODE_LIVE,
    groups: GROUP_LIST.exactOptional(),
    group: GROUP_LIVE.exactOptional(),
  }),
);

export const HISTORY = json(
  'Columns of one value per second, the oldest first; null = not known.',
  record({
    endedMs: number,
    seconds: count,
    node: record({ members: FIGURES, reportRoundTripMs: FIGURES, topicLagMs: FIGURES, roundMs: FIGURES }),
    group: record({
      group: text,
      direction: z.enum(DIRECTIONS),
      dimension: z.enum(DIMENSIONS),
      quota: FIGURES,
      target: FIGURES,
      admitted: FIGURES,
      wanted: FIGURES,
      tokens: SIGNED_FIGURES,
      refused: FIGURES,
      nodes: listOf(record({ nodeId: text.nullable(), share: FIGURES })),
    }).nullable(),
    rows: listOf(record(HISTORY_ROW)),
  }),
);

/** Whole number of a query, sent as text. */
function whole(most: number, description: string) {
  const digits = z.string().refine((sent) => /^\d{1,7}$/.test(sent) && Number(sent) <= most);
  return withAllowed(digits.meta({ description }), `must be a whole number from 0 to ${most}`);
}
