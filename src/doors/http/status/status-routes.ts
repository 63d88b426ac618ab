import type { FastifyInstance } from 'fastify';
import type { Access } from '../../../base/access/access.js';
import { describeQuota } from '../../../config/describe/describe-config.js';
import { shownRates } from '../../../core/base/shown-rates.js';
import { BYTES, lanesOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { GroupSummary } from '../../../node/api/change-answers.js';
import { originOf } from '../../../node/groups/registry/describe-registry.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { busiestKeys } from '../../../node/status/busiest-keys.js';
import { describeKey, unknownKey } from '../../../node/status/describe-key.js';
import { describeGroup, describeNode } from '../../../node/status/describe-node.js';
import { LaneSummary } from '../../../node/status/lane-summary.js';
import type { StatusParts } from '../../../node/status/status-parts.js';
import { BUSIEST_KEYS, GROUP_ANSWER, GROUPS, KEY, NODES, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { once, pathParams } from '../route/fields.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';

/** Groups per page: about 130 KB and 10 ms of the event loop. */
const PAGE_MAX = 200;

/** Adds routes that show what this node knows of the cluster; they change nothing. */
export function addStatusRoutes(app: FastifyInstance, node: NodeParts, access: Access): void {
  route(app, {
    ...VIEWING,
    url: '/v1/groups',
    summary: 'Lists groups, with what this node does for each',
    query: body({ after: once('Begins behind this group; `next` of a page is the value for the page behind it.') }),
    answers: { 200: GROUPS, 404: PROBLEM, 422: PROBLEM },
    handler: ({ query }) => pageOfGroups(node, query.after),
  });
  route(app, {
    ...VIEWING,
    url: '/v1/groups/:group',
    summary: 'Shows a group: quota, target, strategy, and of each node usage, demand, share and age of its report',
    query: NO_QUERY,
    params: pathParams('group'),
    answers: { 200: GROUP_ANSWER, 404: PROBLEM, 422: PROBLEM },
    handler: ({ params }) => describeGroup(node, node.gate.groupToShow(params.group)),
  });
  route(app, {
    ...VIEWING,
    url: '/v1/keys',
    summary: 'Lists the busiest keys that speak at this node',
    query: NO_QUERY,
    answers: { 200: BUSIEST_KEYS, 422: PROBLEM },
    handler: async () => ({ keys: await busiestKeys(node) }),
  });
  route(app, {
    ...VIEWING,
    url: '/v1/keys/:key',
    summary:
      'Shows a key that a template makes: what this node may spend without publishing it, or its group, and what nodes reported',
    query: NO_QUERY,
    params: pathParams('key'),
    answers: { 200: KEY, 404: PROBLEM, 422: PROBLEM },
    handler: ({ params: { key } }) => describeKey(node, key) ?? unknownKey(node.templates, key),
  });
  route(app, {
    ...VIEWING,
    url: '/v1/nodes',
    summary: 'Shows this node, the members of the cluster, and the topic',
    query: NO_QUERY,
    answers: { 200: NODES, 422: PROBLEM },
    handler: () => ({ ...describeNode(node), access: access.status }),
  });
}

const VIEWING = { method: 'GET', access: needs('viewer'), tag: 'status' } as const;

function pageOfGroups(node: NodeParts, after: string | undefined) {
  const { numbers } = node.groups;
  // By number: a group deleted and made again keeps its place.
  const behind = after === undefined ? -1 : (numbers.get(after) ?? node.gate.unknownGroup(after));
  const groups = [...numbers.values()].filter((group) => group > behind).sort((one, other) => one - other);
  const page = groups.slice(0, PAGE_MAX).map((group) => summarizeGroup(node, group));
  const next = groups.length > PAGE_MAX ? (page.at(-1)?.group ?? null) : null;
  return { groups: page, next };
}

function summarizeGroup(node: StatusParts, group: number): GroupSummary {
  const { name, strategy } = node.groups.at(group);
  const [publish, dispatch] = lanesOf(group).map((lane) => summarizeLane(new LaneSummary(node, lane)));
  return { group: name, strategy, ...originOf(node, name), publish, dispatch };
}

function summarizeLane(lane: LaneSummary): GroupSummary['publish'] {
  const rates = (read: (dimension: number) => number | undefined) => {
    return shownRates([read(MESSAGES) ?? 0, read(BYTES) ?? 0]);
  };
  return {
    quota: shownRates(lane.quota),
    quotaAsWritten: describeQuota(lane.config, lane.direction),
    served: lane.served !== undefined,
    share: rates((dimension) => lane.held('applied', dimension)),
    usage: rates((dimension) => lane.reported('usage', dimension)),
    demand: rates((dimension) => lane.reported('demand', dimension)),
  };
}
