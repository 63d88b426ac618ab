import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { BYTES, DIRECTIONS, type Direction, MESSAGES } from '../../../core/base/vocabulary.js';
import type { GroupDefinition } from '../../../core/beside/registry/registry-record.js';

/** Pulsar resource group: four whole rates per second. Its change leaves our other settings as they are. */
type PulsarGroup = Readonly<Record<string, number>>;

/** `pulsar`: as its admin client reads it; `pip-82`: as the proposal answers. */
export type Spelling = 'pulsar' | 'pip-82';

/** Shows a group in Pulsar's form. *Worked:* 0.5/s is 1; 2^40 messages/s are 2^31 − 1. */
export function toPulsarGroup({ quota }: GroupConfig, spelling: Spelling): PulsarGroup {
  const fields = RATES.flatMap(({ direction, dimension, names }) => {
    const rate = quota[direction][dimension];
    if (rate === Infinity) return [];
    const max = dimension === MESSAGES ? INT32_MAX : Number.MAX_SAFE_INTEGER;
    return [[names[spelling], Math.min(max, Math.ceil(rate))] as const];
  });
  return Object.fromEntries(fields);
}

/**
 * Reads Pulsar's body: null or absent = unchanged, −1 = no quota, 0 = nothing passes, other negatives a mistake. Names
 * are case-blind, of Pulsar or PIP-82. Throws FIELD_UNKNOWN, FIELD_INVALID.
 */
export function patchOfPulsar(body: Readonly<Record<string, unknown>>): GroupDefinition {
  const quota: Record<Direction, Record<string, number | null>> = { publish: {}, dispatch: {} };
  for (const [field, value] of Object.entries(body)) {
    const row = RATES.find(({ names }) => Object.values(names).some((name) => isSame(name, field)));
    if (row === undefined) {
      const near = `; known are ${RATES.map(({ names }) => names.pulsar).join(', ')}`;
      throw new QuotameshError('FIELD_UNKNOWN', { field: field.slice(0, 80), near });
    }
    if (value === null) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < UNLIMITED) {
      const reason = 'must be a whole number per second, 0 to let nothing pass, or -1 for no quota';
      throw new QuotameshError('FIELD_INVALID', { field, reason });
    }
    quota[row.direction][row.key] = value === UNLIMITED ? null : value;
  }
  return { quota };
}

/** Pulsar's word for no quota. */
const UNLIMITED = -1;

/** Largest message rate: Pulsar's client waits for ever for a larger one. */
const INT32_MAX = 2 ** 31 - 1;

const RATES = DIRECTIONS.flatMap((direction) => {
  const prefix = direction === 'publish' ? 'Publish' : 'Dispatch';
  return [
    rateOf(direction, MESSAGES, `${prefix}Rate`, 'InMsgs', 'messagesPerSecond'),
    rateOf(direction, BYTES, `${prefix}Rate`, 'InBytes', 'bytesPerSecond'),
  ];
});

function rateOf(direction: Direction, dimension: number, rate: string, unit: string, key: string) {
  const name = `${rate}${unit}`;
  const pip82 = `${rate}limit${unit.toLowerCase()}`;
  return { direction, dimension, key, names: { pulsar: name[0].toLowerCase() + name.slice(1), 'pip-82': pip82 } };
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
