import { setTimeout as sleep } from 'node:timers/promises';
import { context, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { attachOpenTelemetry } from '../src/doors/opentelemetry/attach-opentelemetry.js';
import { createNode, type Decision } from '../src/index.js';
import { printHead, printSample } from './limiter/figures.js';

/**
 * `npm run bench:opentelemetry [-- ROUNDS]`: what a grant and a refusal cost with and without an SDK that records
 * every span, in turn; ns of CPU of this process. Nothing is exported: that is the SDK's.
 */
const ROUNDS = Number(process.argv[2] ?? 15);
/** So few at a stretch that the limits of a node, which has no turn meanwhile, do not end. */
const CALLS = 20_000;
const BETWEEN_MS = 60;
/** An SDK keeps the first 128 events of a span; a span in a service sees a few. */
const REFUSALS_PER_SPAN = 2;

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider());
metrics.setGlobalMeterProvider(new MeterProvider());
const groups = {
  open: { quota: { publish: { messagesPerSecond: 1_000_000_000 } } },
  shut: { quota: { publish: { messagesPerSecond: 0 } } },
};
const create = (node: string) =>
  createNode({ config: { cluster: 'bench-opentelemetry', node, topic: 'memory', groups }, env: {} });
const [bare, told] = [await create('bare'), await create('told')];
attachOpenTelemetry(told);
for (const node of [bare, told]) await node.acquire('open', { messages: 1 }, { waitMs: 10_000 });
const tracer = trace.getTracer('bench');
const ONE = { messages: 1 };

const asks: Readonly<Record<string, () => void>> = {
  grant: () => repeat(() => bare.tryAcquire('open', ONE), true),
  'grant, attached': () => repeat(() => told.tryAcquire('open', ONE), true),
  refusal: () => repeat(() => bare.tryAcquire('shut', ONE), false),
  'refusal, attached, no span': () => repeat(() => told.tryAcquire('shut', ONE), false),
  'span of the caller with two refusals': () => inSpans(() => bare.tryAcquire('shut', ONE)),
  'span of the caller with two refusals, attached': () => inSpans(() => told.tryAcquire('shut', ONE)),
};

const samples = Object.entries(asks).map(([name, ask]) => ({ name, ask, ns: [] as number[] }));
for (let round = -1; round < ROUNDS; round++) {
  for (const { ask, ns } of round % 2 === 0 ? samples : [...samples].reverse()) {
    await sleep(BETWEEN_MS);
    const began = process.cpuUsage();
    ask();
    const { user, system } = process.cpuUsage(began);
    // The first round warms up.
    if (round >= 0) ns.push((1000 * (user + system)) / CALLS);
  }
}
printHead(`ns a call, ${ROUNDS} rounds of ${CALLS}`);
for (const { name, ns } of samples) printSample(name, ns);
await Promise.all([bare.close(), told.close()]);

function repeat(ask: () => Decision, isGranted: boolean): void {
  let granted = 0;
  for (let call = 0; call < CALLS; call++) if (ask().granted) granted++;
  if (granted !== (isGranted ? CALLS : 0)) throw new Error(`${granted} of ${CALLS} were granted`);
}

function inSpans(ask: () => unknown): void {
  for (let call = 0; call < CALLS; call += REFUSALS_PER_SPAN) {
    const span = tracer.startSpan('request', {}, ROOT_CONTEXT);
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => {
      for (let refusal = 0; refusal < REFUSALS_PER_SPAN; refusal++) ask();
    });
    span.end();
  }
}
