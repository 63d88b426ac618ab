import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { QuotaNode } from '../runtime/quota-node.js';

export function createMetrics(node: QuotaNode, _incidents: { readonly unhandledRejections: number }) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'quotamesh_ready',
    help: '1 while the node decides',
    registers: [registry],
    collect() {
      this.set(node.isReady ? 1 : 0);
    },
  });
  return { contentType: registry.contentType, text: () => registry.metrics() };
}
