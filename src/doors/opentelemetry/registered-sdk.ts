import { createNoopMeter, metrics, ProxyTracerProvider, trace } from 'opentelemetry-api';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { registeredApiVersion } from './registered-api.js';

/**
 * Whether an SDK has been registered in this process. The interfaces have no question for it: without an SDK they give
 * objects that do nothing, and those are recognized by their class.
 */
export function hasMeterProvider(): boolean {
  return metrics.getMeter('quotamesh').constructor !== createNoopMeter().constructor;
}

export function hasTracerProvider(): boolean {
  const provider = trace.getTracerProvider();
  if (!('getDelegate' in provider)) return true;
  return (provider as ProxyTracerProvider).getDelegate() !== new ProxyTracerProvider().getDelegate();
}

/**
 * The copy of the interfaces inside this package finds an SDK that was registered with a copy of the same or a newer
 * minor version; one of an older version it cannot see, and would say that there is none.
 *
 * Throws OPENTELEMETRY_TOO_OLD.
 */
export function rejectOldApi(): void {
  const version = registeredApiVersion();
  if (version === null) return;
  const [, minor = '0'] = version.split('.');
  if (Number(minor) < OLDEST_MINOR) throw new QuotameshError('OPENTELEMETRY_TOO_OLD', { version, oldest: OLDEST });
}

/** The version of `opentelemetry-api` in package.json: the oldest that observes many instruments in one callback. */
const OLDEST_MINOR = 3;
const OLDEST = `1.${OLDEST_MINOR}.0`;
