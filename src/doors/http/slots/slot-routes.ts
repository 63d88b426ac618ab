import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { directionIndex, laneOf } from '../../../core/base/vocabulary.js';
import { number, record, text, yes } from '../../../node/api/answer-table.js';
import type { NoSlot, Slot } from '../../../node/api/slot.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import {
  type AcquireAnswer,
  type AcquireOutcomes,
  countFailure,
  GRANT_FIELDS,
  notReadyAnswer,
  problemFields,
  RefusalAnswers,
  refusedAnswer,
  sendByFastify,
  slotsProblem,
  unableAnswer,
  untilHangUp,
} from '../acquire/acquire-answers.js';
import { leftItem, policyName, RateLimitFields, slotsPolicyItem, wholeSeconds } from '../acquire/rate-limit-fields.js';
import { BUDGET_AMOUNTS, DIRECTION, SPENT_AMOUNTS } from '../acquire/scope-fields.js';
import { ACQUIRE_ANSWERS, BODY_PROBLEMS, json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { amount, GROUP_LENGTH_MAX, HTTP_WAIT_MS_MAX, milliseconds, name, textUpTo } from '../route/fields.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { withAllowed } from '../route/wording.js';
import { LEASE_MS_MAX, type OpenSlots } from './open-slots.js';

/** Adds `POST /v1/slots`, `/v1/slots/renew` and `/v1/slots/release`. */
export function addSlotRoutes(app: FastifyInstance, node: NodeParts, outcomes: AcquireOutcomes, open: OpenSlots): void {
  const fields = new RateLimitFields(node);
  const entering = { node, outcomes, open, fields, refusals: new RefusalAnswers(node, fields) };
  const described = { method: 'POST', access: needs('traffic'), tag: 'admission' } as const;
  route(app, {
    ...described,
    url: '/v1/slots',
    summary:
      'Enters a group: takes one of its slots and tokens of its quota, or neither; renew and release it by its id',
    body: ENTER_BODY,
    answers: ENTER_ANSWERS,
    handler: (request, reply) => enter(request, reply, entering),
  });
  route(app, {
    ...described,
    url: '/v1/slots/renew',
    summary: 'Begins the lease of a slot anew, while its request goes on',
    body: RENEW_BODY,
    answers: { 200: LEASED, ...ENDING_PROBLEMS },
    handler: ({ body: { id, leaseMs } }) => open.renew(id, leaseMs && allowedLease(leaseMs)),
  });
  route(app, {
    ...described,
    url: '/v1/slots/release',
    summary: 'Gives a slot back when its request has ended',
    body: RELEASE_BODY,
    answers: { 200: RELEASED, ...ENDING_PROBLEMS },
    handler: ({ body: { id, ...spent } }) => ({ ended: open.release(id, spent) }),
  });
}

interface Entering {
  readonly node: NodeParts;
  readonly outcomes: AcquireOutcomes;
  readonly open: OpenSlots;
  readonly fields: RateLimitFields;
  readonly refusals: RefusalAnswers;
}

type EnterRequest = FastifyRequest<{ Body: z.output<typeof ENTER_BODY> }>;

/** Enters at once, or within `waitMs`; the slot of a client that hangs up meanwhile goes back. */
async function enter(request: EnterRequest, reply: FastifyReply, entering: Entering) {
  const { node, outcomes, open } = entering;
  const { group, messages = 1, bytes = 0, leaseMs = LEASE_MS_MAX, ...options } = request.body;
  return untilHangUp(reply, async (signal) => {
    try {
      allowedLease(leaseMs);
      open.rejectIfFull();
      const { waitMs = node.gate.usualWaitMs(group, options.direction) } = options;
      const slot = await node.gate.enter(group, { ...request.body, messages, bytes }, { ...options, waitMs, signal });
      if (slot.granted && signal.aborted) slot.release();
      if (signal.aborted) return reply.hijack();
      const lane = laneOf(node.gate.groupIndex(group), directionIndex(options.direction ?? 'publish'));
      outcomes[slot.granted ? 'granted' : slot.reason === 'not-ready' ? 'notReady' : 'refused']++;
      sendByFastify(reply, slot.granted ? enteredAnswer(slot, lane, leaseMs, entering) : refusal(slot, lane, entering));
    } catch (error) {
      countFailure(outcomes, error);
      // A client that hung up reads no answer.
      if (signal.aborted) reply.hijack();
      else if (error instanceof QuotameshError && error.httpStatus === 503) {
        sendByFastify(reply, unableAnswer(error, 1000));
      } else throw error;
    }
    return reply;
  });
}

function enteredAnswer(slot: Slot, lane: number, leaseMs: number, { open, fields, node }: Entering): AcquireAnswer {
  const body = JSON.stringify({ granted: true, ...open.lease(slot, leaseMs) });
  const left = fields.policy(lane) === '' ? '' : fields.current(lane, node.clock());
  return { status: 200, fields: [...GRANT_FIELDS, ...rateLimits(slot, fields.policy(lane), left)], body };
}

function refusal(slot: NoSlot, lane: number, { node, fields, refusals }: Entering): AcquireAnswer {
  const { group, reason, because, retryAfterMs, decision } = slot;
  const nowMs = node.clock();
  if (decision?.reason === 'quota') return refusedAnswer(decision, { lane, answers: refusals, nowMs });
  if (reason === 'not-ready') return notReadyAnswer({ because, retryAfterMs }, node);
  const retryAfterS = wholeSeconds(retryAfterMs);
  const body = JSON.stringify(slotsProblem(group, because, retryAfterMs));
  const told = rateLimits(
    slot,
    fields.policy(lane),
    fields.policy(lane) === '' ? '' : fields.current(lane, nowMs),
    retryAfterS,
  );
  return { status: 429, fields: [...problemFields(retryAfterS), ...told], body };
}

/** Makes both fields: first the slots, then what the quota says. */
function rateLimits({ group, slots }: Slot | NoSlot, policy: string, left: string, retryAfterS: number | null = null) {
  const ofSlots =
    slots === null
      ? []
      : [slotsPolicyItem(group, slots.limit), leftItem(policyName(group, 'concurrency'), slots.free, retryAfterS)];
  const [policies, current] = [
    [...ofSlots.slice(0, 1), policy].filter((item) => item !== '').join(', '),
    [...ofSlots.slice(1), left].filter((item) => item !== '').join(', '),
  ];
  return policies === '' ? [] : ['ratelimit-policy', policies, 'ratelimit', current];
}

/** Throws LEASE_TOO_LONG. */
function allowedLease(leaseMs: number): number {
  if (leaseMs > LEASE_MS_MAX) throw new QuotameshError('LEASE_TOO_LONG', { leaseMs, max: LEASE_MS_MAX });
  return leaseMs;
}

const LEASE = {
  id: text.meta({ description: 'The id by which the slot is renewed and released, at this node.' }),
  leaseMs: number.meta({ description: 'The milliseconds after which the slot goes back unless it is renewed.' }),
};

const ENTER_ANSWERS = {
  200: { ...json('The request may run.', record({ granted: yes, ...LEASE })), headers: ACQUIRE_ANSWERS[200].headers },
  ...BODY_PROBLEMS,
  404: PROBLEM,
  409: PROBLEM,
  429: ACQUIRE_ANSWERS[429],
  503: ACQUIRE_ANSWERS[503],
};

const LEASED = json('The lease has begun anew.', record(LEASE));

const RELEASED = json(
  'The slot has gone back.',
  record({
    ended: z.enum(['released', 'lost']).meta({
      description: 'With lost, others may have had the slot already, as this node may have counted as dead.',
    }),
  }),
);

const ENDING_PROBLEMS = { ...BODY_PROBLEMS, 404: PROBLEM, 409: PROBLEM };

const lease = milliseconds(
  Number.MAX_SAFE_INTEGER,
  `The milliseconds after which the slot goes back by itself, at most ${LEASE_MS_MAX}; absent means that many.`,
).exactOptional();

const idText = z.string().meta({ description: 'The `id` in the answer to POST /v1/slots.' });
const id = withAllowed(idText, 'must be the id of the answer to POST /v1/slots');

const ENTER_BODY = body({
  group: textUpTo(GROUP_LENGTH_MAX, 'The name of the group that is entered.', 'reports'),
  direction: DIRECTION,
  messages: amount('The messages that its quota is charged; absent means 1.').exactOptional(),
  bytes: amount('The bytes that its quota is charged; absent means 0.').exactOptional(),
  ...BUDGET_AMOUNTS,
  topic: name('The topic that the work is for.').exactOptional(),
  client: name('The client that does the work.').exactOptional(),
  waitMs: milliseconds(
    HTTP_WAIT_MS_MAX,
    'The milliseconds to wait for a slot and tokens; absent means the setting waitMs of the group, or a round trip to the log.',
  ).exactOptional(),
  leaseMs: lease,
});

const RENEW_BODY = body({ id, leaseMs: lease });

const RELEASE_BODY = body({ id, ...SPENT_AMOUNTS });
