import { crc32 } from 'node:zlib';
import { clusterHashOf } from '../../core/base/ids.js';
import { invariant } from '../../core/base/invariant.js';
import { quotamesh } from './generated/report.js';

const wire = quotamesh.v1;

export const MAGIC = 0x53454d51;
export const WIRE_VERSION = 1;
/** Most bytes of a record; a bundle of 64 groups is below 5 KiB. */
export const MAX_RECORD_BYTES = 64 * 1024;

export const DECODE_CAUSES = [
  'too-large',
  'not-an-envelope',
  'foreign-magic',
  'newer-wire-version',
  'other-cluster',
  'bad-crc',
  'unknown-kind',
  'malformed-body',
  'absurd-content',
  'node-differs',
] as const;
export type DecodeCause = (typeof DECODE_CAUSES)[number];

/** Reason in place of an exception: foreign records are everyday events. */
export type Undecodable = { readonly cause: DecodeCause };

export interface Opened {
  readonly kind: number;
  readonly body: Uint8Array;
}

/** Wraps every record of one cluster, on either topic; see proto/report.proto. */
export class Envelope {
  readonly #clusterHash: number;

  constructor(cluster: string) {
    this.#clusterHash = clusterHashOf(cluster);
  }

  seal(kind: number, body: Uint8Array): Uint8Array {
    const head = { magic: MAGIC, wireVersion: WIRE_VERSION, clusterHash: this.#clusterHash, crc32: crc32(body) };
    const value = wire.Envelope.encode({ kind, body, ...head }).finish();
    invariant(value.length <= MAX_RECORD_BYTES, 'a record must be small', { bytes: value.length });
    return value;
  }

  /** Opens a value; never throws on foreign input. */
  open(value: Uint8Array): Opened | Undecodable {
    if (value.length > MAX_RECORD_BYTES) return { cause: 'too-large' };
    const envelope = attempt(() => wire.Envelope.decode(value));
    if (envelope === null) return { cause: 'not-an-envelope' };
    if (envelope.magic !== MAGIC) return { cause: 'foreign-magic' };
    if (envelope.wireVersion !== WIRE_VERSION) return { cause: 'newer-wire-version' };
    if (envelope.clusterHash !== this.#clusterHash) return { cause: 'other-cluster' };
    if (envelope.crc32 !== crc32(envelope.body)) return { cause: 'bad-crc' };
    return envelope;
  }
}

/** Returns the result of `decode`, or null if it throws. */
export function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
