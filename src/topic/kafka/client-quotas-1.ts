import type { OwnRequest } from './broker-link.js';
import { FlexibleReader, FlexibleWriter } from './flexible-wire.js';

/** Version of Kafka 2.8 (2021); 0 has the same fields in the older encoding. */
export const CLIENT_QUOTAS_VERSION = 1;

/** Part of an entity: user or client id; null = everybody without a quota of their own. */
export interface EntityPart {
  readonly type: string;
  readonly name: string | null;
}

export interface DescribedEntity {
  readonly entity: readonly EntityPart[];
  readonly values: readonly { readonly key: string; readonly value: number }[];
}

export interface DescribedEntities {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly entities: readonly DescribedEntity[];
}

export interface EntityChange {
  readonly entity: readonly EntityPart[];
  /** Null removes the quota. */
  readonly changes: readonly { readonly key: string; readonly value: number | null }[];
}

export interface ChangedEntity {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly entity: readonly EntityPart[];
}

const FALSE = 0;
const TRUE = 1;

/** Requests every quota. */
export function describeClientQuotas(): OwnRequest<DescribedEntities> {
  const writer = new FlexibleWriter(8).noTags();
  // No component and not strict: whatever else an entity consists of.
  writer.array([], () => {}).int8(FALSE);
  return {
    api: 'DescribeClientQuotas',
    apiVersion: CLIENT_QUOTAS_VERSION,
    body: writer.noTags().written,
    decode: decodeDescribed,
  };
}

export function alterClientQuotas(changes: readonly EntityChange[]): OwnRequest<readonly ChangedEntity[]> {
  const writer = new FlexibleWriter(64 * (changes.length + 1)).noTags();
  writer.array(changes, (change) => {
    writer.array(change.entity, ({ type, name }) => writer.text(type).nullableText(name).noTags());
    writer.array(change.changes, ({ key, value }) => {
      writer
        .text(key)
        .float64(value ?? 0)
        .int8(value === null ? TRUE : FALSE)
        .noTags();
    });
    writer.noTags();
  });
  // It is done, not only validated.
  writer.int8(FALSE);
  return {
    api: 'AlterClientQuotas',
    apiVersion: CLIENT_QUOTAS_VERSION,
    body: writer.noTags().written,
    decode: decodeChanged,
  };
}

function decodeDescribed(payload: Buffer): DescribedEntities {
  const reader = new FlexibleReader(payload);
  reader.tags();
  reader.int32(); // throttle time
  const errorCode = reader.int16();
  const errorMessage = reader.text();
  const entities = reader.array(() => {
    const entity = entityIn(reader);
    const values = reader.array(() => {
      const value = { key: reader.text() ?? '', value: reader.float64() };
      reader.tags();
      return value;
    });
    reader.tags();
    return { entity, values };
  });
  return { errorCode, errorMessage, entities };
}

function decodeChanged(payload: Buffer): readonly ChangedEntity[] {
  const reader = new FlexibleReader(payload);
  reader.tags();
  reader.int32(); // throttle time
  return reader.array(() => {
    const changed = { errorCode: reader.int16(), errorMessage: reader.text(), entity: entityIn(reader) };
    reader.tags();
    return changed;
  });
}

function entityIn(reader: FlexibleReader): readonly EntityPart[] {
  return reader.array(() => {
    const part = { type: reader.text() ?? '', name: reader.text() };
    reader.tags();
    return part;
  });
}
