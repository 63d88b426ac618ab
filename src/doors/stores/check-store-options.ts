import { z } from 'zod';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { told } from '../../base/input/input-mistakes.js';
import { isMapping } from '../../base/input/mapping.js';
import { nodeOrOptionMistake } from '../../base/input/option-mistakes.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import type { RateLimiterQuotameshOptions } from './rate-limiter-flexible.js';
import type { StoreOptions } from './store-account.js';

/** Rejects options that would fail, or miscount, every request. */
export function rejectWrongStore(store: string, node: QuotaNode, options: unknown, schema: z.ZodType = OPTIONS): void {
  const mistake = nodeOrOptionMistake(node, schema, options);
  if (mistake !== null) throw new QuotameshError('OPTIONS_INVALID', { of: `the store for ${store}: `, ...mistake });
}

const isFunction = (given: unknown) => typeof given === 'function';
const isName = (given: unknown) => typeof given === 'string' && given !== '';

const OPTIONS = z.strictObject({
  group: told(
    z.custom((given) => isName(given) || isFunction(given)).optional(),
    'the name of a group, or a function of the library’s key',
  ),
  limit: told(
    z.custom((given) => isMapping(given) || isFunction(given)).optional(),
    'a quota, or a function of the library’s key',
  ),
} satisfies Record<keyof StoreOptions, z.ZodType>);

export const LIMITER_OPTIONS = OPTIONS.extend({
  points: told(z.number().int().min(0), 'a whole number ≥ 0: the quota in its unit of time'),
  keyPrefix: told(z.string().optional(), 'a text'),
  blockDuration: told(z.number().min(0).optional(), 'a number of seconds ≥ 0'),
} satisfies Record<Exclude<keyof RateLimiterQuotameshOptions, keyof StoreOptions>, z.ZodType>);
