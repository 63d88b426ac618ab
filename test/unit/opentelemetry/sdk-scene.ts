import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished } from 'vitest';

/** A real SDK in this process, as a program registers it, until the test has ended. */
export interface SdkScene {
  readonly spans: () => readonly ReadableSpan[];
  /** What an exporter for Prometheus would answer now. */
  readonly scrape: () => Promise<string>;
}

export function sdkScene(): SdkScene {
  const exported = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exported)] });
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meters = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider(meters);
  onTestFinished(async () => {
    forgetSdk();
    await Promise.all([provider.shutdown(), meters.shutdown()]);
  });
  return {
    spans: () => exported.getFinishedSpans(),
    scrape: async () => {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw errors[0];
      return new PrometheusSerializer().serialize(resourceMetrics);
    },
  };
}

/** Tests of one worker share a process. */
export function forgetSdk(): void {
  trace.disable();
  metrics.disable();
  context.disable();
}
