import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { record, text, yes } from '../../../node/api/answer-table.js';
import { BUDGET_NOW } from '../../../node/api/node-status.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { describeBudget } from '../../../node/status/describe-node.js';
import { changedBy } from '../access/caller.js';
import { BODY_PROBLEMS, json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { amount, flag, pathParams, textUpTo } from '../route/fields.js';
import { route } from '../route/route.js';
import { changes } from '../route/route-access.js';

const ID_MAX = 200;

/** Adds POST /v1/groups/{group}/budget: tops up the present period, or resets it. */
export function addBudgetRoute(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'POST',
    url: '/v1/groups/:group/budget',
    access: changes(null),
    tag: 'groups',
    params: pathParams('group'),
    summary: 'Gives units to the present period of a budget, or resets it; once for each id',
    body: body({
      id: textUpTo(ID_MAX, 'The name of the gift; a repeated one counts once.', 'invoice-7'),
      amount: amount('The units that the period has beside its budget.').exactOptional(),
      reset: flag('True: the whole budget is there again, less what nodes hold. Without amount.').exactOptional(),
    }),
    answers: {
      200: json('The log has it.', record(ANSWER)),
      ...BODY_PROBLEMS,
      403: PROBLEM,
      422: PROBLEM,
      503: PROBLEM,
    },
    handler: async (request) => {
      const { id, amount: units = 0, reset = false } = request.body;
      if (reset === units > 0) throw invalid('amount', 'must be above 0, or absent beside reset: true');
      const number = node.gate.groupIndex(request.params.group);
      const lane = node.budgets.get(number);
      if (lane === undefined) throw invalid('group', 'has no budget');
      const { name, how, requestId } = changedBy(request);
      const isCounted = await node.budgets.credit(number, id, reset ? null : units);
      if (isCounted === null) {
        const reason = node.budgets.because(lane) || 'the log has not answered';
        throw new QuotameshError('NOT_READY', { node: node.config.nodeId, reason });
      }
      const facts = { group: request.params.group, id, amount: reset ? 'reset' : units, by: name, how, requestId };
      node.telemetry.log('info', isCounted ? 'budget is raised for its period' : 'gift was counted before', facts);
      return { group: request.params.group, id, isCounted, budget: describeBudget(node, number) };
    },
  });
}

const ANSWER = {
  group: text,
  id: text,
  isCounted: yes.meta({ description: 'True = it counts now; false = the id had counted before.' }),
  budget: BUDGET_NOW,
};

function invalid(field: string, reason: string): QuotameshError {
  return new QuotameshError('FIELD_INVALID', { field, reason });
}
