import { QuotameshError } from '../errors/quotamesh-error.js';
import type { CreateNodeOptions } from './create-node.js';

/** For callers without a type checker: `nodeid` would start a node with another name than meant, and nobody would know. */
export function rejectWrongOptions(options: unknown): asserts options is CreateNodeOptions {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'must be an object with config');
  for (const key of Object.keys(options)) {
    if (!KNOWN.has(key)) throw wrong(key, `is not known; known are ${[...KNOWN].join(', ')}`);
  }
  const { telemetry, readyTimeoutMs, config } = options as Partial<Record<keyof CreateNodeOptions, unknown>>;
  if (config === undefined) throw wrong('config', 'is missing: the path of a YAML file, or its contents as an object');
  if (telemetry !== undefined && typeof (telemetry as { log?: unknown } | null)?.log !== 'function') {
    throw wrong('telemetry', 'must have a function log(level, message, facts)');
  }
  if (readyTimeoutMs !== undefined && !isTimeout(readyTimeoutMs)) {
    throw wrong('readyTimeoutMs', `must be a number of milliseconds from 0 to ${TIMEOUT_MS_MAX}`);
  }
}

const KNOWN: ReadonlySet<string> = new Set<keyof Required<CreateNodeOptions>>([
  'config',
  'nodeId',
  'env',
  'telemetry',
  'readyTimeoutMs',
]);

/** A longer timer of Node.js ends at once. */
const TIMEOUT_MS_MAX = 2_147_483_647;

function isTimeout(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= TIMEOUT_MS_MAX;
}

function wrong(field: string, reason: string): QuotameshError {
  return new QuotameshError('OPTIONS_INVALID', { field, reason });
}
