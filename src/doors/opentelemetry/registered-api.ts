import type { Telemetry } from '../../base/ports/telemetry.js';
import type { MetricSources } from '../telemetry/metric-tables.js';

/** Reads the version under which a copy of @opentelemetry/api 1.x was registered; null = none. */
export function registeredApiVersion(): string | null {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')];
  return (registered as { readonly version?: string } | undefined)?.version ?? null;
}

/**
 * Attaches the SDK that `node --import` brought, if any. Loads the interfaces only then: they take 10 ms of a start.
 * Throws OPENTELEMETRY_TOO_OLD.
 */
export async function attachWhereRegistered(sources: MetricSources, telemetry: Telemetry): Promise<void> {
  if (registeredApiVersion() === null) return;
  const { attachTo } = await import('./attach-to.js');
  const { metrics, spans } = attachTo(sources);
  telemetry.log('info', 'opentelemetry attached', { metrics, spans });
}
