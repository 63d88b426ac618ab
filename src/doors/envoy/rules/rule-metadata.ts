import { isMapping } from '../../../base/input/mapping.js';
import type { google } from '../generated/messages.js';

/** Metadata of a rule, as JSON has it; answers bring that of rules which passed. */
export type RuleMetadata = Readonly<Record<string, unknown>>;

type Struct = google.protobuf.Struct.$Properties;
type Value = google.protobuf.Value.$Properties;

/** Joins metadata as ratelimit does: mappings into each other; of anything else the first stays. */
export function joinedMetadata(first: RuleMetadata, second: RuleMetadata): RuleMetadata {
  const joined = new Map(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const before = joined.get(key);
    if (before === undefined) joined.set(key, value);
    else if (isMapping(before) && isMapping(value)) joined.set(key, joinedMetadata(before, value));
  }
  return Object.fromEntries(joined);
}

export function structOf(metadata: RuleMetadata): Struct {
  return { fields: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, protoValueOf(value)])) };
}

function protoValueOf(value: unknown): Value {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(protoValueOf) } };
  return isMapping(value) ? { structValue: structOf(value) } : { nullValue: 0 };
}

export function metadataIn({ fields }: Struct): RuleMetadata {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([key, value]) => [key, plainIn(value)]));
}

function plainIn({ stringValue, numberValue, boolValue, listValue, structValue }: Value): unknown {
  if (structValue != null) return metadataIn(structValue);
  if (listValue != null) return (listValue.values ?? []).map(plainIn);
  return stringValue ?? numberValue ?? boolValue ?? null;
}
