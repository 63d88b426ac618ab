import { crc32 } from 'node:zlib';
import { clusterHashOf } from '../core/ids.js';
import type { RegistryRecord } from '../core/registry/registry-record.js';
import { quotamesh } from './generated/report.js';
import { type DecodeCause, MAGIC, MAX_RECORD_BYTES, WIRE_VERSION } from './record-codec.js';

const wire = quotamesh.v1;

/** In proto/report.proto: the body is JSON, because definitions are what people write, and are read by people. */
const KIND = wire.Kind.QUOTA;
/** Of a definition as JSON; what is around it takes less than 1 KiB. */
export const DEFINITION_BYTES_MAX = MAX_RECORD_BYTES - 2048;

export type DecodedRegistryRecord = { readonly record: RegistryRecord } | { readonly cause: DecodeCause };

/** Records of the registry topic to bytes and back, in the envelope of the reports. Never throws on foreign input. */
export class RegistryCodec {
  readonly #clusterHash: number;

  constructor(cluster: string) {
    this.#clusterHash = clusterHashOf(cluster);
  }

  encode(record: RegistryRecord): Uint8Array {
    const body = Buffer.from(JSON.stringify(record));
    const envelope = { magic: MAGIC, wireVersion: WIRE_VERSION, clusterHash: this.#clusterHash };
    return wire.Envelope.encode({ ...envelope, crc32: crc32(body), kind: KIND, body }).finish();
  }

  decode(value: Uint8Array): DecodedRegistryRecord {
    if (value.length > MAX_RECORD_BYTES) return { cause: 'too-large' };
    const envelope = attempt(() => wire.Envelope.decode(value));
    if (envelope === null) return { cause: 'not-an-envelope' };
    if (envelope.magic !== MAGIC) return { cause: 'foreign-magic' };
    if (envelope.wireVersion !== WIRE_VERSION) return { cause: 'newer-wire-version' };
    if (envelope.clusterHash !== this.#clusterHash) return { cause: 'other-cluster' };
    if (envelope.crc32 !== crc32(envelope.body)) return { cause: 'bad-crc' };
    if (envelope.kind !== KIND) return { cause: 'unknown-kind' };
    const body: unknown = attempt(() => JSON.parse(Buffer.from(envelope.body).toString()));
    if (!isMapping(body)) return { cause: 'malformed-body' };
    return isRecord(body) ? { record: body as unknown as RegistryRecord } : { cause: 'absurd-content' };
  }
}

function isRecord(body: Readonly<Record<string, unknown>>): boolean {
  if (!isText(body.author)) return false;
  switch (body.kind) {
    case 'barrier':
      return isText(body.id);
    case 'proposal':
      return isText(body.id) && isText(body.group) && isDefinition(body.definition) && isExpectation(body.expected);
    case 'state':
      return isText(body.group) && isDefinition(body.definition) && isPlace(body.asOf) && isPlace(body.revision);
    default:
      return false;
  }
}

function isExpectation(value: unknown): boolean {
  return value === null || isPlace(value);
}

function isPlace(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 1024;
}

function isDefinition(value: unknown): boolean {
  return value === null || isMapping(value);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
