import { type AnswerOf, count, listOf, number, record, signed, text, yes } from './answer-table.js';
import { DIMENSION, GROUP_STATUS, NODE_STATUS, ONE_DIRECTION, TOPIC_STATUS } from './node-status.js';

const LANE_ROW = { group: text, direction: ONE_DIRECTION, dimension: DIMENSION };

const HISTORY_ROW = {
  ...LANE_ROW,
  quota: number.nullable(),
  /** As last published; of silent keys with a heartbeat (status/lane-summary.ts). */
  admitted: number,
  wanted: number,
};
export interface HistoryRow extends AnswerOf<typeof HISTORY_ROW> {}

const GROUP_ROW = {
  ...HISTORY_ROW,
  throttledNodes: count.meta({ description: 'The number of nodes that want more than they are admitted.' }),
  strategy: text,
  enabled: yes,
};
/** Line of the overview, over all alive nodes. Units/s in `dimension`; null = no quota. */
export interface GroupRow extends AnswerOf<typeof GROUP_ROW> {}

const GROUP_LIST = {
  total: count,
  found: count,
  from: count,
  rows: listOf(record<GroupRow>(GROUP_ROW)),
  unnamed: count.meta({ description: 'Directions in use at other nodes whose names this node does not know.' }),
};
/** Lines in a window; the number of all and of those found. */
export interface GroupList extends AnswerOf<typeof GROUP_LIST> {}

const { kind, partitions, lost, pendingAppends } = TOPIC_STATUS;
const NODE_LIVE = {
  atMs: number,
  cluster: text,
  nodeId: text,
  version: text,
  phase: text,
  ready: yes,
  notReadyBecause: listOf(text),
  degraded: listOf(text),
  uptimeMs: number,
  members: NODE_STATUS.members,
  reportRoundTripMs: number,
  lastRebalancingMs: number,
  keys: NODE_STATUS.keys,
  /** Since the newest own record read back was appended; null before the first. */
  topicLagMs: number.nullable(),
  topic: record({ kind, partitions, lost, pendingAppends }),
  canChange: yes,
};
export interface NodeLive extends AnswerOf<typeof NODE_LIVE> {}

const GROUP_LIVE = {
  ...GROUP_STATUS,
  template: text.nullable().meta({ description: 'The pattern of the template that makes this key; null = no key.' }),
};
/** A group; of a key, its template's pattern and own entry's revision too. */
export interface GroupLive extends AnswerOf<typeof GROUP_LIVE> {}

/** Answer of `GET /v1/live`, and the events of its stream. */
export const LIVE_STATUS = {
  node: record<NodeLive>(NODE_LIVE),
  groups: record<GroupList>(GROUP_LIST).exactOptional(),
  group: record<GroupLive>(GROUP_LIVE).exactOptional(),
};

const FIGURES = listOf(number.nullable());

const TRACK_STATUS = {
  quota: FIGURES,
  target: FIGURES,
  admitted: FIGURES,
  wanted: FIGURES,
  /** In the cluster's bucket; null = nodes have gates. */
  tokens: listOf(signed.nullable()),
  /** Refused units at this node. */
  refused: FIGURES,
  /** Id of the node; null = the sum of all without a column. */
  nodes: listOf(record({ nodeId: text.nullable(), share: FIGURES })),
};
/** Columns of one value per second, oldest first. */
export interface TrackStatus extends AnswerOf<typeof TRACK_STATUS> {}

const GROUP_HISTORY = { ...LANE_ROW, ...TRACK_STATUS };
interface GroupHistory extends AnswerOf<typeof GROUP_HISTORY> {}

export const HISTORY_STATUS = {
  endedMs: number,
  seconds: count,
  node: record({ members: FIGURES, reportRoundTripMs: FIGURES, topicLagMs: FIGURES, roundMs: FIGURES }),
  group: record<GroupHistory>(GROUP_HISTORY).nullable(),
  /** Lanes with a track, as they were `ago` seconds before the newest. */
  rows: listOf(record<HistoryRow>(HISTORY_ROW)),
};
/** Answer of `GET /v1/live/history`. */
export interface HistoryStatus extends AnswerOf<typeof HISTORY_STATUS> {}
