import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { OtherConstants } from '../../../src/config/resolved/constants.js';
import { type QuotaAdmin, QuotaKeeper } from '../../../src/doors/kafka-quotas/quota-keeper.js';
import { GroupTable } from '../../../src/node/groups/group-table.js';
import { KeyTemplates } from '../../../src/node/groups/keys/key-templates.js';
import type { EntityChange } from '../../../src/topic/kafka/client-quotas-1.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { VirtualTime } from '../demo/virtual-time.js';

/** A keeper in virtual time, beside a Kafka that has no quotas and exporters that do not answer. */
export class QuotaKeeperScene {
  readonly templates: KeyTemplates;
  readonly keeper: QuotaKeeper;
  /** What it has sent to Kafka. */
  readonly sent: EntityChange[] = [];
  readonly lines: { readonly message: string; readonly facts: Readonly<Record<string, unknown>> }[] = [];
  readonly #time = new VirtualTime();

  constructor(settings: object, admin: Partial<QuotaAdmin> = {}, constants: OtherConstants = {}) {
    const config = resolveConfig(
      { cluster: 'demo', node: 'a', topic: { kind: 'kafka', brokers: ['127.0.0.1:9092'] }, ...settings },
      { source: '(test)', env: {}, constants },
    );
    const { registry, keys } = config;
    const telemetry = silentTelemetry;
    this.templates = new KeyTemplates({ configured: keys.templates, registry, telemetry, use: () => undefined });
    this.keeper = new QuotaKeeper({
      config,
      topic: new MemoryTopic(createMemoryLog({ partitions: 1 })),
      admin: {
        describe: async () => [],
        alter: async (changes) => {
          this.sent.push(...changes);
          return [];
        },
        windows: async () => [],
        close: async () => undefined,
        ...admin,
      },
      groups: new GroupTable(config.groups, (name) => name),
      templates: this.templates,
      clock: () => performance.now(),
      telemetry: { log: (_, message, facts) => this.lines.push({ message, facts: facts ?? {} }) },
      adopts: false,
    });
  }

  pass(ms: number): Promise<void> {
    return this.#time.advance(ms);
  }

  async close(): Promise<void> {
    await Promise.all([this.keeper.close(), this.#time.advance(2000)]);
    this.#time.end();
  }
}

export const EXPORTERS = ['http://127.0.0.1:1/metrics'];
