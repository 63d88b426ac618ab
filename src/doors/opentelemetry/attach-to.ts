import {
  type Attributes,
  createNoopMeter,
  type Meter,
  metrics,
  type Observable,
  ProxyTracerProvider,
  trace,
} from 'opentelemetry-api';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { VERSION } from '../../base/package/version.js';
import type { AdmissionWatch } from '../../node/admission/request/admission-watch.js';
import { callEmbedder, warnEmbedder } from '../../node/loop/call-embedder.js';
import { GROUP_METRICS } from '../telemetry/group-metrics.js';
import { GroupSeries } from '../telemetry/group-series.js';
import type { MetricRow } from '../telemetry/metric.js';
import { type MetricSources, metricTables } from '../telemetry/metric-tables.js';
import { registeredApiVersion } from './registered-api.js';
import { RequestSpans } from './request-spans.js';

/** Parts of an SDK that were found. */
export interface Attached {
  readonly metrics: boolean;
  readonly spans: boolean;
  readonly detach: () => void;
}

const SCOPE = 'quotamesh';

export function attachTo(sources: MetricSources): Attached {
  rejectOldApi();
  const { exemplars, node } = sources;
  const { gate, life, config } = node;
  const ofNode = { 'quotamesh.node': config.nodeId };
  const attached = { metrics: hasMeterProvider(), spans: hasTracerProvider() };
  if (!attached.metrics && !attached.spans) return { ...attached, detach: () => undefined };
  const meter = metrics.getMeter(SCOPE, VERSION);
  const stopObserving = attached.metrics ? observeMetrics(meter, sources, ofNode) : () => undefined;
  const watch = guardedWatch(new RequestSpans(trace.getTracer(SCOPE, VERSION), meter, ofNode, exemplars));
  gate.watch = watch;
  if (exemplars !== undefined) exemplars.isFed = attached.spans;
  const detach = () => {
    stopObserving();
    if (gate.watch === watch) gate.watch = null;
  };
  life.atEnd(detach);
  return { ...attached, detach };
}

/** Keeps an SDK's errors from the decision that it watches; warns once. */
function guardedWatch(watch: AdmissionWatch): AdmissionWatch {
  let hasWarned = false;
  const failed = (reason: string) => {
    if (!hasWarned) warnEmbedder('CALLBACK_FAILED', { callback: 'the OpenTelemetry SDK', reason });
    hasWarned = true;
  };
  return {
    refused: (request, decision) => callEmbedder(() => watch.refused(request, decision), failed),
    waits: (request) => {
      let end: ReturnType<AdmissionWatch['waits']> = () => undefined;
      callEmbedder(() => {
        end = watch.waits(request);
      }, failed);
      return (decision) => callEmbedder(() => end(decision), failed);
    },
  };
}

/**
 * Observes every metric of docs/reference/metrics.md, read when the SDK collects.
 *
 * @param ofNode stands in every series: a process may hold several nodes
 * @returns ends it
 */
function observeMetrics(meter: Meter, sources: MetricSources, ofNode: Attributes): () => void {
  const tables = metricTables(sources);
  const groups = new GroupSeries(sources.node);
  const metrics = tables.metrics.map((metric) => ({
    read: metric.read,
    instrument: instrumentOf(meter, metric.name, metric),
  }));
  const ofGroups = new Map(
    Object.entries(GROUP_METRICS).map(([name, metric]) => [name, instrumentOf(meter, name, metric)]),
  );
  const instruments = [...metrics.map(({ instrument }) => instrument), ...ofGroups.values()];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    tables.refresh();
    for (const { read, instrument } of metrics) {
      read((value, labels) => result.observe(instrument, value, { ...labels, ...ofNode }));
    }
    await groups.read((name, value, labels) => {
      result.observe(ofGroups.get(name) as Observable, value, { ...labels, ...ofNode });
    });
  };
  meter.addBatchObservableCallback(observe, instruments);
  return () => meter.removeBatchObservableCallback(observe, instruments);
}

/** Names `quotamesh_refusals_total` `quotamesh.refusals`: exporters for Prometheus append `_total` again. */
function instrumentOf(meter: Meter, name: string, { type, help }: MetricRow): Observable {
  const options = { description: help, unit: unitOf(name) };
  const own = name.replace(/^quotamesh_/, 'quotamesh.').replace(/_total$/, '');
  return type === 'gauge' ? meter.createObservableGauge(own, options) : meter.createObservableCounter(own, options);
}

/** Returns the code of UCUM for a name's unit; '' = none. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '';
}

/** Tests for a registered SDK: without one the interfaces give objects of a class that does nothing. */
function hasMeterProvider(): boolean {
  return metrics.getMeter('quotamesh').constructor !== createNoopMeter().constructor;
}

function hasTracerProvider(): boolean {
  const provider = trace.getTracerProvider();
  if (!('getDelegate' in provider)) return true;
  return (provider as ProxyTracerProvider).getDelegate() !== new ProxyTracerProvider().getDelegate();
}

/** Rejects an SDK older than our copy of the interfaces can see. Throws OPENTELEMETRY_TOO_OLD. */
function rejectOldApi(): void {
  const version = registeredApiVersion();
  if (version === null) return;
  const [, minor = '0'] = version.split('.');
  if (Number(minor) < OLDEST_MINOR) throw new QuotameshError('OPENTELEMETRY_TOO_OLD', { version, oldest: OLDEST });
}

/** Minor version of `opentelemetry-api` in package.json: the oldest with batch observation. */
const OLDEST_MINOR = 3;
const OLDEST = `1.${OLDEST_MINOR}.0`;
