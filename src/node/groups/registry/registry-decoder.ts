import type { ReadRecord } from '../../../base/ports/report-topic.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { ReadRegistryRecord } from '../../../core/beside/registry/registry-protocol.js';
import type { RegistryCodec } from '../../../topic/codec/registry-codec.js';
import type { YamlComparison } from '../yaml/yaml-comparison.js';

/** Decodes the registry's records for its machine, and YAML hashes for their comparison. */
export class RegistryDecoder {
  undecodable = 0;
  readonly #codec: RegistryCodec;
  readonly #comparison: YamlComparison;
  readonly #telemetry: Telemetry;

  constructor(codec: RegistryCodec, comparison: YamlComparison, telemetry: Telemetry) {
    this.#codec = codec;
    this.#comparison = comparison;
    this.#telemetry = telemetry;
  }

  decodeAll(records: readonly ReadRecord[]): ReadRegistryRecord[] {
    return records.map((read) => this.#decode(read));
  }

  #decode({ offset, appendMs, key, value, isToRenew }: ReadRecord): ReadRegistryRecord {
    const decoded = value === null ? { record: null } : this.#codec.decode(value);
    if ('record' in decoded) {
      const { record } = decoded;
      if (record === null || record.kind === 'yaml') this.#comparison.read(key, record, isToRenew);
      return { offset, appendMs, key, record, ...(isToRenew && { isToRenew }) };
    }
    const facts = { cause: decoded.cause, offset };
    const text = 'registry record ignored; further ones are only counted';
    if (this.undecodable++ === 0) this.#telemetry.log('warn', text, facts);
    return { offset, appendMs, key, record: { kind: 'unreadable' } };
  }
}
