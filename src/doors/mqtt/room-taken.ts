interface KeptMessage {
  readonly topic: string;
  readonly payload: Buffer | string;
}

/** Bytes that a kept message takes beside its topic and payload; an unreleased id takes as many. */
export const KEPT_BYTES = 256;
/** Bytes of a filter for which it takes one place; Node keeps some 500 beside them. */
const PLACE_BYTES = 256;

/** Counts the bytes that a kept message takes: topic + payload + `KEPT_BYTES`. *Why:* topics may have 64 KiB. */
export function keptBytesOf({ topic, payload }: KeptMessage): number {
  return Buffer.byteLength(topic) + payload.length + KEPT_BYTES;
}

/** Counts the places that a subscription takes: 1 + ⌊bytes of its filter / 256⌋. *Worked:* 255 bytes: 1, 64 KiB: 257. */
export function placesOf(filter: string): number {
  return 1 + Math.floor(Buffer.byteLength(filter) / PLACE_BYTES);
}

export function placesOfAll(filters: Iterable<string>): number {
  let places = 0;
  for (const filter of filters) places += placesOf(filter);
  return places;
}
