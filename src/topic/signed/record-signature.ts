import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { HmacConfig } from '../../config/resolved/resolved-config.js';

/** Address of a record; a signature holds for no other. */
interface RecordAddress {
  readonly partition: number;
  readonly key: string;
}

/** Reasons why a signature verifies nothing. */
export const UNVERIFIED_CAUSES = ['unsigned', 'unknown-key', 'wrong-signature'] as const;
export type UnverifiedCause = (typeof UNVERIFIED_CAUSES)[number];
/** Key of ours that signed a record. */
export type Signer = 'key' | 'next-key' | 'previous-key';

/** Log that signatures are for. */
export interface SignedLog {
  readonly cluster: string;
  /** Kafka topic; with other stores `reports` or `registry`. */
  readonly log: string;
}

/** Field 15 of the envelope, length-delimited (proto/report.proto); nodes without keys skip it. */
const FIELD_TAG = 0x7a;
const KEY_ID_BYTES = 4;
/** 128 bits of HMAC-SHA-256: guessing takes 2^127 records (RFC 2104, section 5: at least half of the hash). */
const MAC_BYTES = 16;
const FIELD_BYTES = KEY_ID_BYTES + MAC_BYTES;
export const SIGNATURE_BYTES = 2 + FIELD_BYTES;

/**
 * Signs records by HMAC-SHA-256, behind the value. It covers cluster, log, partition, key and value. This binds a
 * record to its address, not to a time: an old record of the key is valid again (docs/decisions/0044).
 */
export class RecordSignature {
  readonly #log: SignedLog;
  readonly #own: SigningKey;
  readonly #known: readonly (readonly [Signer, SigningKey])[];

  constructor({ key, nextKey, previousKey }: HmacConfig, log: SignedLog) {
    this.#log = log;
    this.#own = new SigningKey(key);
    const others: (readonly [Signer, string | null])[] = [
      ['next-key', nextKey],
      ['previous-key', previousKey],
    ];
    this.#known = [
      ['key', this.#own],
      ...others.flatMap(([signer, text]) => (text === null ? [] : [[signer, new SigningKey(text)] as const])),
    ];
  }

  /** Names the signing key for people: 8 hexadecimal digits that reveal nothing. */
  get keyId(): string {
    return this.#own.id.toString('hex');
  }

  sign(address: RecordAddress, value: Uint8Array): Uint8Array {
    const signed = Buffer.allocUnsafe(value.length + SIGNATURE_BYTES);
    signed.set(value);
    signed[value.length] = FIELD_TAG;
    signed[value.length + 1] = FIELD_BYTES;
    signed.set(this.#own.id, value.length + 2);
    signed.set(this.#own.mac(this.#context(address), value), value.length + 2 + KEY_ID_BYTES);
    return signed;
  }

  verify(address: RecordAddress, signed: Uint8Array): Signer | UnverifiedCause {
    const end = signed.length - SIGNATURE_BYTES;
    if (end < 0 || signed[end] !== FIELD_TAG || signed[end + 1] !== FIELD_BYTES) return 'unsigned';
    const id = signed.subarray(end + 2, end + 2 + KEY_ID_BYTES);
    const found = this.#known.find(([, key]) => key.id.equals(id));
    if (found === undefined) return 'unknown-key';
    const [signer, key] = found;
    const mac = key.mac(this.#context(address), signed.subarray(0, end));
    return timingSafeEqual(mac, signed.subarray(end + 2 + KEY_ID_BYTES)) ? signer : 'wrong-signature';
  }

  /** Joins the parts as JSON: it keeps them apart and holds no 0 byte. */
  #context({ partition, key }: RecordAddress): string {
    return `${JSON.stringify([this.#log.cluster, this.#log.log, partition, key])}\0`;
  }
}

class SigningKey {
  readonly id: Buffer;
  readonly #key: KeyObject;

  constructor(text: string) {
    this.#key = createSecretKey(text, 'utf8');
    this.id = createHmac('sha256', this.#key).update('quotamesh key id').digest().subarray(0, KEY_ID_BYTES);
  }

  mac(context: string, value: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(context).update(value).digest().subarray(0, MAC_BYTES);
  }
}
