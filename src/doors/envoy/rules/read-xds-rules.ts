import type { ratelimit } from '../generated/messages.js';
import { DEPTH_MAX } from './read-yaml-rules.js';
import { metadataIn } from './rule-metadata.js';
import type { RuleFindings, RulePlace, WrittenDescriptor, WrittenLimit, WrittenRules } from './written-rules.js';

type Config = ratelimit.config.ratelimit.v3.RateLimitConfig.$Properties;
type Descriptor = ratelimit.config.ratelimit.v3.RateLimitDescriptor.$Properties;
type Policy = ratelimit.config.ratelimit.v3.RateLimitPolicy.$Properties;

/** Reads a resource as a file is read; its place is its name, and the path within. */
export function readXdsRules({ name, domain, descriptors }: Config, findings: RuleFindings): WrittenRules {
  const place = { file: `xds:${name || domain || '(no name)'}`, line: null, column: null, path: '' };
  return { place, domain: domain ?? '', descriptors: descriptorsOf(descriptors, place, 1, findings) };
}

function descriptorsOf(
  sent: readonly Descriptor[] | null | undefined,
  above: RulePlace,
  depth: number,
  findings: RuleFindings,
): WrittenDescriptor[] {
  if (depth > DEPTH_MAX && (sent ?? []).length > 0) {
    const problem = `has more than ${DEPTH_MAX} levels`;
    findings.add(above, { problem, allowed: `${DEPTH_MAX} levels`, remedy: 'Nest less.' });
    return [];
  }
  return (sent ?? []).map((descriptor, at): WrittenDescriptor => {
    const { key, value, rateLimit, shadowMode, quotaMode, detailedMetric, metadata } = descriptor;
    const place = { ...above, path: `${above.path === '' ? '' : `${above.path}.`}descriptors[${at}]` };
    if (detailedMetric) findings.note(place, 'has detailed_metric, which changes no metric');
    return {
      place,
      key: key ?? '',
      value: value ?? '',
      limit: rateLimit == null ? null : limitOf(rateLimit, { ...place, path: `${place.path}.rate_limit` }),
      isShadow: shadowMode ?? false,
      isQuota: quotaMode ?? false,
      sharesThreshold: false,
      metadata: metadata == null ? null : metadataIn(metadata),
      descriptors: descriptorsOf(descriptor.descriptors, place, depth + 1, findings),
    };
  });
}

function limitOf({ unit, requestsPerUnit, unlimited, name, replaces }: Policy, place: RulePlace): WrittenLimit {
  return {
    place,
    unit: UNITS[Number(unit ?? 0)] ?? `number ${unit}`,
    requestsPerUnit: requestsPerUnit ?? 0,
    isUnlimited: unlimited ?? false,
    label: name ?? '',
    replaces: (replaces ?? []).map((each) => each.name ?? ''),
  };
}

/** By the number on the wire. */
const UNITS = ['', 'second', 'minute', 'hour', 'day', 'month', 'year', 'week'];
