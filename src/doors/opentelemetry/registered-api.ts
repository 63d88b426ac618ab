import type { Telemetry } from '../../base/ports/telemetry.js';
import type { MetricSources } from '../telemetry/metric-tables.js';

/**
 * Where every copy of @opentelemetry/api of major version 1 keeps what was registered, with the version of the copy that
 * registered it. Null where nothing was.
 */
export function registeredApiVersion(): string | null {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')];
  return (registered as { readonly version?: string } | undefined)?.version ?? null;
}

/**
 * For the command: an SDK is in its process where `node --import` has brought one. The interfaces are loaded only then,
 * because loading them takes 10 ms of every start.
 *
 * Throws OPENTELEMETRY_TOO_OLD.
 */
export async function attachWhereRegistered(sources: MetricSources, telemetry: Telemetry): Promise<void> {
  if (registeredApiVersion() === null) return;
  const { attachTo } = await import('./attach-to.js');
  const { metrics, spans } = attachTo(sources);
  telemetry.log('info', 'opentelemetry attached', { metrics, spans });
}
