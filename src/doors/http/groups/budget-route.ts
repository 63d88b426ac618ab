import type { FastifyInstance } from 'fastify';
import { record } from '../../../node/api/answer-table.js';
import { BUDGET_GIFTS, type BudgetGift, GIFT_ID_MAX, GIVEN } from '../../../node/api/budget-gifts.js';
import { budgetLaneOf, giveBudget } from '../../../node/groups/changes/change-budget.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { describeBudget } from '../../../node/status/describe-node.js';
import { changedBy } from '../access/caller.js';
import { BODY_PROBLEMS, json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { decimal, flag, pathParams, textUpTo } from '../route/fields.js';
import { route } from '../route/route.js';
import { changes, needs } from '../route/route-access.js';

const URL = '/v1/groups/:group/budget';

/** Adds the routes of a budget: what it was given, and gifts to its present period. */
export function addBudgetRoutes(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'GET',
    url: URL,
    access: needs('operator'),
    tag: 'groups',
    params: pathParams('group'),
    summary: 'Shows a budget, and who gave it what',
    answers: { 200: json('The budget as this node knows it.', record(BUDGET_GIFTS)), 422: PROBLEM },
    handler: ({ params: { group } }) => {
      const lane = budgetLaneOf(node.budgets, node.gate.groupIndex(group));
      return { group, budget: describeBudget(node, lane), gifts: node.budgets.gifts(lane) };
    },
  });
  route(app, {
    method: 'POST',
    url: URL,
    access: changes(null),
    tag: 'groups',
    params: pathParams('group'),
    summary: 'Gives units to the present period of a budget, or resets it; once for each id',
    body: body({
      id: textUpTo(GIFT_ID_MAX, 'The name of the gift; a repeated one counts once.', 'invoice-7'),
      amount: decimal(
        'The units that the period has beside its budget; of cents, with six decimals at most.',
      ).exactOptional(),
      reset: flag(
        'True: all that is spent is there again, less what nodes hold; other gifts stay. Without amount.',
      ).exactOptional(),
    }),
    answers: {
      200: json('The log has it.', record(GIVEN)),
      ...BODY_PROBLEMS,
      403: PROBLEM,
      422: PROBLEM,
      503: PROBLEM,
    },
    handler: async (request) => {
      const { group } = request.params;
      const lane = budgetLaneOf(node.budgets, node.gate.groupIndex(group));
      const gift = request.body as BudgetGift;
      const isCounted = await giveBudget(node, { lane, name: group }, gift, changedBy(request));
      return { group, id: gift.id, isCounted, budget: describeBudget(node, lane) };
    },
  });
}
