import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { KeeperStatus } from '../../../src/doors/kafka-quotas/keeper-status.js';
import { CliScene } from '../../unit/cli/cli-process.js';
import type { WrittenGroup } from '../../written-settings.js';
import { createTopic } from '../admin.js';
import type { Kafka } from '../kafka.js';
import { KeeperProcess, keeperYaml } from './keeper-process.js';
import { type LoadOptions, ProducerLoad } from './producer-load.js';

export interface KafkaQuotaSceneOptions extends Required<Pick<LoadOptions, 'requestBytes' | 'inFlight'>> {
  readonly kafka: Kafka;
  /** Bytes per second of the group `app`, for producers. */
  readonly quota: number;
  /** The client id of the load, and a part of the names of topics. */
  readonly name: string;
  /** One partition each. */
  readonly wants: number[];
  /** By default broker n leads partition n − 1, alone. */
  readonly replicas?: readonly (readonly number[])[];
  /** By default the client id alone. */
  readonly entities?: readonly unknown[];
  readonly groups?: Readonly<Record<string, WrittenGroup>>;
  /** In place of the brokers' own. */
  readonly exporters?: readonly string[];
}

/** A load on a topic of its own, and keepers of its quota as processes, until the test is finished. */
export async function kafkaQuotaScene(options: KafkaQuotaSceneOptions) {
  const { kafka, quota, name, wants, entities, groups = {}, exporters = kafka.exporters } = options;
  const { replicas = wants.map((_, at) => [at + 1]) } = options;
  const cli = new CliScene(onTestFinished);
  const topic = `load-${name}`;
  const replicaAssignment = replicas.map((each, partition) => ({ partition, replicas: [...each] }));
  await createTopic(kafka.brokers, topic, {}, { replicaAssignment });
  const yaml = keeperYaml({
    ...kafka,
    exporters,
    topic: `keepers-${name}`,
    groups: { app: { quota: { publish: { bytesPerSecond: quota } } }, ...groups },
    entities: entities ?? [{ clientId: name, group: 'app' }],
  });
  const file = join(cli.folderWith({ 'keeper.yaml': yaml }), 'keeper.yaml');
  const { requestBytes, inFlight } = options;
  const load = new ProducerLoad({ brokers: kafka.brokers, clientId: name, topic, wants, requestBytes, inFlight });
  await load.start();
  onTestFinished(() => load.stop());
  return {
    cli,
    file,
    load,
    topic,
    keeper: (id: string, args: string[] = []) => new KeeperProcess(cli, file, id, args),
    /** Ends a keeper in order, and puts back what was there before it. */
    release: async (keeper: KeeperProcess): Promise<string> => {
      keeper.process.kill('SIGTERM');
      await keeper.process.exit;
      const { code, stdout, stderr } = await cli.start(['kafka-quotas', '--config', file, '--release']).exit;
      if (code !== 0) throw new Error(`release ended with ${code}: ${stderr}`);
      return stdout;
    },
  };
}

export function total(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** How far the sum is from the quota, in parts of it. */
export function offBy(rates: readonly number[], quota: number): number {
  return Math.abs(total(rates) / quota - 1);
}

/** In kB/s, for a line of output. */
export function inKb(rates: readonly number[]): string {
  return rates.map((rate) => Math.round(rate / 1000)).join('+');
}

export function isKept({ limits }: Pick<KeeperStatus, 'limits'>): boolean {
  return limits[0]?.state === 'kept' && limits[0].inForce !== null;
}
