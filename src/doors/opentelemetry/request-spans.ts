import {
  type Attributes,
  type Counter,
  context,
  type Histogram,
  type Meter,
  type MetricOptions,
  type Span,
  TraceFlags,
  type Tracer,
  trace,
} from 'opentelemetry-api';
import type { AdmissionWatch, WatchedRequest } from '../../node/admission/request/admission-watch.js';
import type { Decision, NotReady, Refused } from '../../node/api/decision.js';
import type { RefusalExemplars } from '../telemetry/metrics.js';

/** Advice of newer interfaces; an SDK reads it whatever their version. */
interface Advised {
  readonly advice: { readonly explicitBucketBoundaries: number[] };
}

/** Boundaries in seconds; an SDK's own are for milliseconds. */
const WAIT_BOUNDARIES_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Adds refusals as events to callers' spans, waits as spans below them. Counter and histogram are recorded in the
 * caller's context, for the SDK's exemplars. Names of groups stand in spans alone: as attributes of an instrument, each
 * key would be a series.
 */
export class RequestSpans implements AdmissionWatch {
  readonly #tracer: Tracer;
  readonly #refused: Counter;
  readonly #waitSeconds: Histogram;
  readonly #ofNode: Attributes;
  readonly #exemplars: RefusalExemplars | undefined;

  constructor(tracer: Tracer, meter: Meter, ofNode: Attributes, exemplars?: RefusalExemplars) {
    this.#ofNode = ofNode;
    this.#exemplars = exemplars;
    this.#tracer = tracer;
    this.#refused = meter.createCounter('quotamesh.requests_refused', {
      description: 'Requests refused, waits that ended without a grant included.',
    });
    const ofWaits: MetricOptions & Advised = {
      description: 'The seconds that requests have waited for their turn.',
      unit: 's',
      advice: { explicitBucketBoundaries: WAIT_BOUNDARIES_SECONDS },
    };
    this.#waitSeconds = meter.createHistogram('quotamesh.wait_seconds', ofWaits);
  }

  refused(request: WatchedRequest, decision: Refused | NotReady): void {
    this.#refused.add(1, this.#counted(request, decision));
    const span = trace.getActiveSpan();
    if (span === undefined) return;
    span.addEvent('quotamesh.refused', { ...asked(request), ...whyAndWhen(decision) });
    this.#noteExemplar(span, request, decision);
  }

  waits(request: WatchedRequest): (decision: Decision | null) => void {
    const beganMs = performance.now();
    const inContext = context.active();
    const span = this.#tracer.startSpan(
      'quotamesh.wait',
      { attributes: { ...asked(request), ...this.#ofNode } },
      inContext,
    );
    return (decision) => {
      const outcome = decision === null ? 'given-up' : decision.granted ? 'granted' : 'refused';
      span.setAttribute('quotamesh.outcome', outcome);
      this.#waitSeconds.record(
        (performance.now() - beganMs) / 1000,
        { 'quotamesh.outcome': outcome, ...this.#ofNode },
        inContext,
      );
      if (decision !== null && !decision.granted) {
        this.#refused.add(1, this.#counted(request, decision), inContext);
        span.addEvent('quotamesh.refused', { ...asked(request), ...whyAndWhen(decision) });
        this.#noteExemplar(span, request, decision);
      }
      span.end();
    };
  }

  /** Notes the exemplar of a counted refusal whose trace is recorded. `quotamesh_refusals_total` counts it. */
  #noteExemplar(span: Span, { direction }: WatchedRequest, decision: Refused | NotReady): void {
    if (this.#exemplars === undefined || decision.reason !== 'quota' || decision.level !== 'group') return;
    const { traceId, spanId, traceFlags } = span.spanContext();
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return;
    this.#exemplars.note(direction, { traceId, spanId, atMs: Date.now() });
  }

  #counted({ direction }: WatchedRequest, decision: Refused | NotReady): Attributes {
    return { ...why(decision), 'quotamesh.direction': direction, ...this.#ofNode };
  }
}

function asked({ group, direction, messages, bytes }: WatchedRequest): Attributes {
  return {
    'quotamesh.group': group,
    'quotamesh.direction': direction,
    'quotamesh.messages': messages,
    'quotamesh.bytes': bytes,
  };
}

function why(decision: Refused | NotReady): Attributes {
  if (decision.reason === 'not-ready') return { 'quotamesh.reason': decision.reason };
  const { reason, level, dimension } = decision;
  return { 'quotamesh.reason': reason, 'quotamesh.level': level, 'quotamesh.dimension': dimension };
}

function whyAndWhen(decision: Refused | NotReady): Attributes {
  return { ...why(decision), 'quotamesh.retry_after_ms': decision.retryAfterMs };
}
