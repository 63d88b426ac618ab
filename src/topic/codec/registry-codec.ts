import { isMapping, type Mapping } from '../../base/input/mapping.js';
import { BASE_MAX } from '../../core/beside/registry/registry-epochs.js';
import type { RegistryRecord } from '../../core/beside/registry/registry-record.js';
import { attempt, Envelope, MAX_RECORD_BYTES, type Undecodable } from './envelope.js';
import { quotamesh } from './generated/report.js';

/** Kinds of proto/report.proto; the body is JSON, because people write and read definitions. */
const KIND = quotamesh.v1.Kind.QUOTA;
/** Most bytes of a definition as JSON. */
export const DEFINITION_BYTES_MAX = 28 * 1024;
/** Most bytes of a proposal and a state: a record of the trail holds two. */
const BODY_BYTES_MAX = MAX_RECORD_BYTES / 2 - 512;

export type DecodedRegistryRecord = { readonly record: RegistryRecord } | Undecodable;

export class RegistryCodec {
  readonly #envelope: Envelope;

  constructor(cluster: string) {
    this.#envelope = new Envelope(cluster);
  }

  encode(record: RegistryRecord): Uint8Array {
    return this.#envelope.seal(KIND, Buffer.from(JSON.stringify(record)));
  }

  decode(value: Uint8Array): DecodedRegistryRecord {
    const opened = this.#envelope.open(value);
    if ('cause' in opened) return opened;
    if (opened.kind !== KIND) return { cause: 'unknown-kind' };
    const body: unknown = attempt(() => JSON.parse(Buffer.from(opened.body).toString()));
    if (!isMapping(body)) return { cause: 'malformed-body' };
    if (HALVES.has(body.kind) && opened.body.length > BODY_BYTES_MAX) return { cause: 'absurd-content' };
    return isRecord(body) ? { record: body as unknown as RegistryRecord } : { cause: 'absurd-content' };
  }
}

const HALVES: ReadonlySet<unknown> = new Set(['proposal', 'batch-part', 'batch', 'state']);

/** Most parts of a batch, far above what a node takes (groups/changes/put-groups.ts). */
const PARTS_MAX = 10_000;

function isRecord(body: Mapping): boolean {
  if (!isText(body.author)) return false;
  switch (body.kind) {
    case 'barrier':
      return isText(body.id);
    case 'epoch':
      return isEpoch(body);
    case 'proposal':
      return (
        isText(body.id) &&
        isText(body.group) &&
        isDefinition(body.definition) &&
        isExpectation(body.expected) &&
        (body.detaching === undefined || body.detaching === true) &&
        isWho(body.by ?? null)
      );
    case 'batch-part':
      return isText(body.id) && isWhole(body.part) && areEntries(body.entries);
    case 'batch': {
      const { id, parts, entries, by } = body;
      return isText(id) && isWhole(parts) && (parts as number) <= PARTS_MAX && areEntries(entries) && isWho(by);
    }
    case 'verdict':
      return isText(body.id) && typeof body.isAccepted === 'boolean';
    case 'audit':
      return (
        isText(body.group) &&
        isWhole(body.revision) &&
        isDefinition(body.before) &&
        isDefinition(body.after) &&
        (body.withGroup === undefined || isText(body.withGroup)) &&
        (body.inBatch === undefined || body.inBatch === true) &&
        isWho(body.by)
      );
    case 'state':
      return (
        isText(body.group) &&
        isDefinition(body.definition) &&
        isWhole(body.asOf) &&
        isShift(body.shift) &&
        isWhole(body.revision)
      );
    case 'yaml':
      return (
        isText(body.version) && isWhole(body.part) && isMapping(body.groups) && areTexts(Object.values(body.groups))
      );
    default:
      return false;
  }
}

function isEpoch({ id, base, at }: Mapping): boolean {
  return isText(id) && isWhole(base) && (base as number) <= BASE_MAX && (at === undefined || isWhole(at));
}

function areEntries(entries: unknown): boolean {
  return Array.isArray(entries) && entries.every(isBatchEntry);
}

function isBatchEntry(entry: unknown): boolean {
  if (!isMapping(entry) || !isText(entry.group) || (entry.group as string).startsWith('/')) return false;
  return isMapping(entry.definition) && isExpectation(entry.expected);
}

function isWho(by: unknown): boolean {
  if (by === null) return true;
  return isMapping(by) && isText(by.name) && isText(by.how) && isText(by.requestId) && isWhole(by.atMs);
}

function isExpectation(value: unknown): boolean {
  return value === null || isWhole(value);
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Tests for any shift: offsets of a topic may begin anywhere. */
function isShift(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) <= BASE_MAX;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 1024;
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every(isText);
}

function isDefinition(value: unknown): boolean {
  return value === null || isMapping(value);
}
