/**
 * Writes Kafka's "flexible" encoding: lengths are unsigned varints of length + 1 (0 = null), structures end with tagged
 * fields. kafkajs has no requests in it, and misreads tagged fields.
 */
export class FlexibleWriter {
  #bytes: Buffer;
  #at = 0;

  /** @param bytesExpected first size of the buffer, which grows */
  constructor(bytesExpected: number) {
    this.#bytes = Buffer.allocUnsafe(bytesExpected);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  int8(value: number): this {
    this.#room(1);
    this.#at = this.#bytes.writeInt8(value, this.#at);
    return this;
  }

  int32(value: number): this {
    this.#room(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
    return this;
  }

  int64(value: number): this {
    this.#room(8);
    this.#at = this.#bytes.writeBigInt64BE(BigInt(value), this.#at);
    return this;
  }

  float64(value: number): this {
    this.#room(8);
    this.#at = this.#bytes.writeDoubleBE(value, this.#at);
    return this;
  }

  uvarint(value: number): this {
    this.#room(5);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value);
    return this.uvarint(bytes.length + 1).raw(bytes);
  }

  nullableText(value: string | null): this {
    return value === null ? this.uvarint(0) : this.text(value);
  }

  array<T>(values: readonly T[], write: (value: T) => void): this {
    this.uvarint(values.length + 1);
    for (const value of values) write(value);
    return this;
  }

  noTags(): this {
    return this.uvarint(0);
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + bytes));
    larger.set(this.written);
    this.#bytes = larger;
  }
}

/** Reads the flexible encoding; RangeError beyond the end. Bytes are views of the buffer. */
export class FlexibleReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#move(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#move(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#move(4));
  }

  int64(): number {
    return Number(this.#bytes.readBigInt64BE(this.#move(8)));
  }

  float64(): number {
    return this.#bytes.readDoubleBE(this.#move(8));
  }

  uvarint(): number {
    let value = 0;
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#move(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint of more than 5 bytes');
  }

  raw(length: number): Buffer {
    const from = this.#move(length);
    return this.#bytes.subarray(from, from + length);
  }

  bytes(): Buffer | null {
    const length = this.uvarint();
    return length === 0 ? null : this.raw(length - 1);
  }

  text(): string | null {
    return this.bytes()?.toString('utf8') ?? null;
  }

  /** Reads an array; empty for null. */
  array<T>(read: () => T): T[] {
    const length = this.uvarint() - 1;
    const values: T[] = [];
    for (let at = 0; at < length; at++) values.push(read());
    return values;
  }

  tags(onTag: (tag: number, field: FlexibleReader) => void = () => {}): void {
    const count = this.uvarint();
    for (let at = 0; at < count; at++) {
      const tag = this.uvarint();
      onTag(tag, new FlexibleReader(this.raw(this.uvarint())));
    }
  }

  #move(bytes: number): number {
    const from = this.#at;
    if (from + bytes > this.#bytes.length) throw new RangeError(`an answer that ends ${bytes} bytes too early`);
    this.#at += bytes;
    return from;
  }
}
