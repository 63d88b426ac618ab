import type { TopicLog } from '../remote/topic-log.js';
import { type BrokerAddress, BrokerLink, nameOf } from './broker-link.js';
import {
  alterClientQuotas,
  type ChangedEntity,
  CLIENT_QUOTAS_VERSION,
  type DescribedEntity,
  describeClientQuotas,
  type EntityChange,
} from './client-quotas-1.js';
import { kafkaTopicOptions, tokensOf } from './kafka-topic-options.js';
import { type Kafkajs, loadKafkajs } from './kafkajs-internals.js';
import type { KafkaTopicConfig } from './kind.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from './metadata-10.js';
import { brokerError } from './topic-failure.js';

/** Spans of a broker's means, and their length. */
export interface QuotaWindow {
  readonly broker: string;
  readonly windows: number;
  readonly windowSeconds: number;
}

/**
 * Reads and writes the client quotas of the topic's Kafka. Its one link is like the topic's; KRaft forwards from any
 * broker. A failure destroys it, and the next call tries the next broker.
 */
export class ClientQuotaAdmin {
  readonly #kafkajs: Kafkajs;
  readonly #options: ReturnType<typeof kafkaTopicOptions>;
  readonly #tokens: ReturnType<typeof tokensOf>;
  readonly #log: TopicLog;
  #link: Promise<BrokerLink> | null = null;
  #next = 0;
  #isClosed = false;

  constructor(config: KafkaTopicConfig, log: TopicLog) {
    this.#kafkajs = loadKafkajs();
    this.#log = log;
    this.#tokens = tokensOf(config, log);
    const tokens = this.#tokens;
    const options = kafkaTopicOptions(config, { log }, tokens && (() => tokens.token()));
    this.#options = { ...options, answerBytesMax: QUOTAS_BYTES_MAX };
  }

  async describe(): Promise<readonly DescribedEntity[]> {
    const { errorCode, errorMessage, entities } = await (await this.#linked()).exchange(describeClientQuotas());
    if (errorCode !== 0) throw this.#refusal(errorCode, errorMessage);
    return entities;
  }

  /**
   * Alters quotas; resolves with why entities were refused. @param mayStill called right before the request goes, as
   * connecting may take long
   */
  async alter(
    changes: readonly EntityChange[],
    mayStill: () => boolean,
  ): Promise<readonly (ChangedEntity & { readonly reason: string })[]> {
    const link = await this.#linked();
    if (!mayStill()) throw new Error('not sent: it took too long to connect');
    const changed = await link.exchange(alterClientQuotas(changes));
    const refused = changed.filter(({ errorCode }) => errorCode !== 0);
    return refused.map((each) => ({ ...each, reason: this.#refusal(each.errorCode, each.errorMessage).message }));
  }

  /** Reads every broker's windows. */
  async windows(): Promise<readonly QuotaWindow[]> {
    const { brokers } = await (await this.#linked()).exchange(metadataWithId(this.#options.topic));
    return Promise.all(brokers.map(({ nodeId, host, port }) => this.#windowOf(nodeId, { host, port })));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#tokens?.close();
    const link = this.#link;
    this.#link = null;
    (await link?.catch(() => null))?.destroy(new Error('closed'));
  }

  /** Returns a link; a failed one was forgotten, so another broker is tried. */
  #linked(): Promise<BrokerLink> {
    if (this.#isClosed) return Promise.reject(new Error('closed'));
    const { brokers } = this.#options;
    this.#link ??= this.#open(brokers[this.#next++ % brokers.length]);
    return this.#link;
  }

  async #open(address: BrokerAddress): Promise<BrokerLink> {
    const forget = () => {
      this.#link = null;
    };
    const link = new BrokerLink(this.#kafkajs, address, this.#options, this.#log, forget);
    await link.connect();
    for (const [api, version] of NEEDED_APIS) {
      if (link.serves(api, version)) continue;
      const error = new Error(
        `broker ${nameOf(address)} does not serve ${api} ${version}: Kafka 2.8 or newer is needed`,
      );
      link.destroy(error);
      throw error;
    }
    return link;
  }

  async #windowOf(nodeId: number, address: BrokerAddress): Promise<QuotaWindow> {
    const link = new BrokerLink(this.#kafkajs, address, this.#options, this.#log);
    try {
      await link.connect();
      const resources = [{ type: BROKER_RESOURCE, name: String(nodeId), configNames: [WINDOWS, WINDOW_SECONDS] }];
      const answer = await link.send<ConfigsAnswer>('DescribeConfigs', { resources, includeSynonyms: false });
      const [resource] = answer.resources;
      if (resource === undefined || resource.errorCode !== 0) throw this.#refusal(resource?.errorCode ?? -1, null);
      const numberOf = (name: string) =>
        Number(resource.configEntries.find(({ configName }) => configName === name)?.configValue);
      return { broker: nameOf(address), windows: numberOf(WINDOWS), windowSeconds: numberOf(WINDOW_SECONDS) };
    } finally {
      link.destroy(new Error('no longer needed'));
    }
  }

  #refusal(errorCode: number, message: string | null): Error {
    const error = brokerError(this.#kafkajs, errorCode);
    const principal = this.#options.grantee.principal;
    if (error.type !== 'CLUSTER_AUTHORIZATION_FAILED') return new Error(`${message ?? error.message} (${error.type})`);
    return new Error(
      `${principal} may not: it needs DescribeConfigs and AlterConfigs on the cluster: kafka-acls.sh --bootstrap-server ` +
        `${this.#options.grantee.bootstrapServer} --add --allow-principal '${principal}' --operation DescribeConfigs ` +
        '--operation AlterConfigs --cluster',
    );
  }
}

const NEEDED_APIS = [
  ['DescribeClientQuotas', CLIENT_QUOTAS_VERSION],
  ['AlterClientQuotas', CLIENT_QUOTAS_VERSION],
  ['Metadata', METADATA_WITH_ID_VERSION],
] as const;
/** Most bytes of Kafka's one answer: 100,000 quotas have some 8 MiB. */
const QUOTAS_BYTES_MAX = 16 * 1024 * 1024;
const BROKER_RESOURCE = 4;
const WINDOWS = 'quota.window.num';
const WINDOW_SECONDS = 'quota.window.size.seconds';

interface ConfigsAnswer {
  readonly resources: readonly {
    readonly errorCode: number;
    readonly configEntries: readonly { readonly configName: string; readonly configValue: string | null }[];
  }[];
}
