import { z } from 'zod';
import type { EnvoyDoor } from './envoy-door.js';
import type { RulesBook } from './rules/rules-book.js';

const count = z.int().min(0);
const counts = z.record(z.string(), count);

const RULES = z
  .strictObject({
    source: z.string().meta({ description: 'The file, folder or server that the rules come from.' }),
    domains: count,
    rules: count,
    taken: count.meta({ description: 'How often other rules were taken since the start.' }),
    refused: count.meta({ description: 'How often rules with a mistake were refused since the start.' }),
    refusedBecause: z
      .string()
      .nullable()
      .meta({ description: 'The mistake of the newest rules; null = they are in force.' }),
    notes: z.array(z.string()).readonly().meta({ description: 'What rules say and do not do.' }),
  })
  .readonly();

const RESERVATIONS = z
  .strictObject({
    open: count,
    committed: count,
    expired: count.meta({ description: 'The number that nobody has committed in time, and that came back.' }),
  })
  .readonly();

const XDS = z
  .strictObject({
    url: z.string(),
    isConnected: z.boolean(),
    version: z
      .string()
      .nullable()
      .meta({ description: 'The version of the rules in force; null = there were none yet.' }),
    connects: count.meta({ description: 'How often a connection was tried since the start.' }),
    lostBecause: z.string().nullable().meta({ description: 'Why there is no connection; null = there is one.' }),
  })
  .readonly();

/** Answer of `GET /v1/envoy`; counts since the start. */
export const ENVOY_STATUS = z
  .strictObject({
    url: z.string(),
    connections: count,
    openCalls: count.meta({ description: 'The number of calls that are not over, streams among them.' }),
    heldBytes: count.meta({ description: 'The bytes of requests that have not arrived as a whole.' }),
    requests: z.strictObject({ ok: count, overLimit: count }),
    descriptors: z.strictObject({ granted: count, refused: count, owed: count, unlimited: count }).meta({
      description:
        'The number of descriptors by what became of them; owed: charged though less was left; unlimited: nothing has their name.',
    }),
    refusedBy: counts.meta({ description: 'The number of refused descriptors, by the rule: a group, or a template.' }),
    unknownDomain: count.meta({ description: 'The number of requests of domains that nothing limits.' }),
    overridesRefused: count.meta({ description: 'The number of limits with requests that were not allowed.' }),
    failed: counts.meta({ description: 'The number of calls that failed, by the code of their error.' }),
    ended: counts.meta({ description: 'The number of connections that were ended or lost, by reason.' }),
    quota: z
      .strictObject({
        streams: count.meta({
          description: 'The number of Envoys that enforce by themselves now; each domain is one.',
        }),
        buckets: count.meta({ description: 'The number of their buckets.' }),
        reports: count,
        assignments: count.meta({ description: 'The number of shares told and of buckets abandoned.' }),
        refused: counts.meta({
          description: 'The number of buckets in their last reports that are told nothing, by reason.',
        }),
      })
      .meta({ description: 'The rate limit quota service (docs/guide/envoy-quotas.md).' }),
    rules: RULES.nullable().meta({
      description: 'The rules of envoyproxy/ratelimit (envoy.rules, envoy.xds); null = there are none.',
    }),
    reservations: RESERVATIONS.meta({ description: 'Reservations of Kuadrant’s dialect.' }),
    xds: XDS.nullable().meta({ description: 'The management server (envoy.xds); null = there is none.' }),
  })
  .readonly();
export type EnvoyStatus = z.infer<typeof ENVOY_STATUS>;

interface RuleSource {
  readonly book: RulesBook;
  readonly status: EnvoyStatus['xds'];
}

export function envoyStatus(door: EnvoyDoor, rules: RuleSource | null = null): EnvoyStatus {
  const { listener, rateLimits, quota, kuadrant } = door;
  const { url, connections, openCalls, counts } = listener;
  const { heldBytes, failed, ended } = counts;
  const { overridesRefused, counts: answered } = rateLimits;
  const told = { url, connections, openCalls, heldBytes, failed, ended };
  const ofRules = { rules: rules?.book.status ?? null, xds: rules?.status ?? null };
  const ofServices = { quota: quota.status, reservations: { ...kuadrant.held.counts } };
  return { ...told, ...answered, overridesRefused, ...ofRules, ...ofServices };
}
