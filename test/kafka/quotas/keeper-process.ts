import type { KeeperStatus } from '../../../src/doors/kafka-quotas/keeper-status.js';
import type { CliProcess, CliScene } from '../../unit/cli/cli-process.js';
import type { WrittenSettings } from '../../written-settings.js';

export interface KeeperYaml {
  readonly brokers: readonly string[];
  readonly exporters: readonly string[];
  /** A name of its own for each test. */
  readonly topic: string;
  readonly groups: WrittenSettings['groups'];
  readonly entities: readonly unknown[];
}

/** JSON is YAML, too. */
export function keeperYaml({ brokers, exporters, topic, groups, entities }: KeeperYaml): string {
  const written: WrittenSettings = {
    cluster: topic,
    topic: { kind: 'kafka', brokers, name: topic, partitions: 1 },
    log: { level: 'debug' },
    groups,
    kafkaQuotas: { exporters, entities },
  };
  return JSON.stringify(written);
}

/** `quotamesh kafka-quotas` in a process of its own. */
export class KeeperProcess {
  readonly process: CliProcess;

  constructor(scene: CliScene, file: string, id: string, args: readonly string[] = []) {
    this.process = scene.start(['kafka-quotas', '--config', file, '--node', id, '--http', '127.0.0.1:0', ...args]);
  }

  async status(): Promise<KeeperStatus> {
    const url = await this.process.url();
    return (await (await fetch(new URL('/v1/kafka-quotas', url))).json()) as KeeperStatus;
  }

  async untilStatus(isSo: (status: KeeperStatus) => boolean, what: string): Promise<KeeperStatus> {
    let status = await this.status();
    const look = async () => {
      status = await this.status();
      return isSo(status);
    };
    await this.process.until(look, what);
    return status;
  }

  /** When it sent changes to Kafka, on the clock of the machine. */
  get sentMs(): number[] {
    const sent = this.process.lines.filter(({ msg }) => msg === 'quotas are sent to Kafka');
    return sent.map(({ time }) => Date.parse(String(time)));
  }
}
