import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { COST } from '../acquire/acquire-body.js';
import { DIRECTION } from '../acquire/scope-fields.js';
import { body } from '../route/body.js';
import { judgedLater, toldAs, withAllowed } from '../route/wording.js';

const messages = z.number().min(0).meta({ description: 'How many pieces of work cost this together.', default: 1 });
const sampled = z.number().gt(0).max(1).meta({
  description: 'The probability with which a piece of work is measured: 0.01 if one of a hundred is.',
  default: 1,
});

/** Body of POST /v1/costs; a single cost needs no list. */
export const COSTS_BODY = toldAs(
  body({
    group: withAllowed(
      z.string().meta({ description: 'The name of a configured group.' }),
      'must be the name of a group',
    ),
    direction: DIRECTION,
    messages: withAllowed(messages, 'must be a number from 0 to 1000000000000000').exactOptional(),
    sampled: withAllowed(sampled, 'must be above 0 and at most 1').exactOptional(),
    // Judged by the library, which reports an unknown group first.
    costs: judgedLater(z.union([z.array(COST).min(1), COST])).exactOptional(),
  }).meta({ required: ['group', 'costs'] }),
  ({ field, reason }) => new QuotameshError('COST_INVALID', { field, reason }),
);

const level = z.number().min(0).meta({ description: 'Length of the queue, or utilisation, in the unit of target.' });
const positive = () => withAllowed(z.number().gt(0), 'must be a finite number > 0').exactOptional();
const throttlingRatio = z.number().min(0).max(2).nullable().meta({
  description:
    'The part of its work that the backend can bear, instead of level, target and spring; null means that it is not near saturation.',
});

/** Body of PUT /v1/backends/{backend}; the library judges it. */
export const BACKEND_BODY = toldAs(
  body({
    zone: withAllowed(
      z.string().meta({
        description: 'The zone of the backend: backends that fail together. By default a backend is a zone of its own.',
      }),
      'must be a name',
    ).exactOptional(),
    level: withAllowed(level, 'must be a finite number ≥ 0').exactOptional(),
    target: positive(),
    spring: positive(),
    throttlingRatio: withAllowed(throttlingRatio, 'must be a number from 0 to 2, or null').exactOptional(),
  }),
  ({ field, reason, params }) => new QuotameshError('BACKEND_INVALID', { ...params, field, reason }),
);
