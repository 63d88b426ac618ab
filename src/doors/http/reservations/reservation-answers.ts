import { z } from 'zod';
import { BODY_PROBLEMS, count, json, listOf, number, PROBLEM, record, text } from '../route/answer-schemas.js';

const HOW = z.enum(['committed', 'cancelled']);

export const ENDED = json('The reservation has ended.', record({ ended: HOW }));

export const ENDING_PROBLEMS = { ...BODY_PROBLEMS, 404: PROBLEM, 409: PROBLEM, 503: PROBLEM };

const BULK_ENDING = z.strictObject({
  status: count,
  ended: HOW.optional(),
  code: text.optional(),
  detail: text.optional(),
  remedy: text.optional(),
});

export const BULK_ENDED = json('One answer per commit, in their order.', record({ answers: listOf(BULK_ENDING) }));

export const COUNTS_ANSWERS = {
  200: json(
    'Since the start; `open`, `max` and `validMs` are of now.',
    record({
      open: count,
      committed: count,
      cancelled: count,
      expired: count.meta({ description: 'Reservations that were not ended in time, and are charged as estimated.' }),
      full: count.meta({ description: 'Reservations that were refused because `max` were open.' }),
      max: count,
      validMs: number,
    }),
  ),
  422: PROBLEM,
};
