import { createNoopMeter, metrics, ProxyTracerProvider, trace } from 'opentelemetry-api';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { registeredApiVersion } from './registered-api.js';

/** Tests for a registered SDK: without one the interfaces give objects of a class that does nothing. */
export function hasMeterProvider(): boolean {
  return metrics.getMeter('quotamesh').constructor !== createNoopMeter().constructor;
}

export function hasTracerProvider(): boolean {
  const provider = trace.getTracerProvider();
  if (!('getDelegate' in provider)) return true;
  return (provider as ProxyTracerProvider).getDelegate() !== new ProxyTracerProvider().getDelegate();
}

/** Rejects an SDK older than our copy of the interfaces can see. Throws OPENTELEMETRY_TOO_OLD. */
export function rejectOldApi(): void {
  const version = registeredApiVersion();
  if (version === null) return;
  const [, minor = '0'] = version.split('.');
  if (Number(minor) < OLDEST_MINOR) throw new QuotameshError('OPENTELEMETRY_TOO_OLD', { version, oldest: OLDEST });
}

/** Minor version of `opentelemetry-api` in package.json: the oldest with batch observation. */
const OLDEST_MINOR = 3;
const OLDEST = `1.${OLDEST_MINOR}.0`;
