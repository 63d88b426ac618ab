import { metrics, trace } from 'opentelemetry-api';
import { VERSION } from '../../base/package/version.js';
import type { AdmissionWatch } from '../../node/admission/request/admission-watch.js';
import { callEmbedder, warnEmbedder } from '../../node/loop/call-embedder.js';
import type { MetricSources } from '../telemetry/metric-tables.js';
import { observeMetrics } from './observe-metrics.js';
import { hasMeterProvider, hasTracerProvider, rejectOldApi } from './registered-sdk.js';
import { RequestSpans } from './request-spans.js';

/** Parts of an SDK that were found. */
export interface Attached {
  readonly metrics: boolean;
  readonly spans: boolean;
  readonly detach: () => void;
}

/** Name of instruments and spans. */
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
export function guardedWatch(watch: AdmissionWatch): AdmissionWatch {
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
