import type { KafkaQuotasConfig } from '../../config/resolved/resolved-config.js';
import type { ExporterPage } from '../../core/beside/kafka-quotas/keeper-events.js';
import { ExporterPageReader } from './exporter-page.js';

type ReadSettings = Pick<KafkaQuotasConfig, 'timeoutMs' | 'maxPageBytes' | 'metrics'>;

/** Reads one exporter's page; resolves with its failure. */
export async function readExporter(exporter: string, settings: ReadSettings): Promise<ExporterPage> {
  const { timeoutMs, maxPageBytes, metrics } = settings;
  const page = new ExporterPageReader(metrics);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error(`no whole page within ${timeoutMs} ms`)), timeoutMs);
  try {
    const answer = await fetch(exporter, { signal: ending.signal, redirect: 'error' });
    if (answer.status !== 200 || answer.body === null) throw new Error(`status ${answer.status}`);
    let bytes = 0;
    for await (const chunk of answer.body) {
      bytes += chunk.byteLength;
      if (bytes > maxPageBytes) throw new Error(`a page of more than kafkaQuotas.maxPageBytes = ${maxPageBytes}`);
      page.push(chunk);
    }
    page.end();
    return { exporter, readings: page.readings, problem: page.problem };
  } catch (error) {
    return { exporter, readings: null, problem: reasonOf(error) };
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** Returns the cause: fetch says only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}
