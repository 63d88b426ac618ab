import { TopicUnusable } from '../remote/topic-unusable.js';
import { type BrokerAddress, type BrokerLink, nameOf } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { kafkaUnusable } from './topic-failure.js';
import { fetchTopicMetadata, type TopicMetadata } from './topic-metadata.js';
import { createKafkaTopic, untilLed, verifyTopic, type WantedTopic } from './topic-preparation.js';

/** Opens links that `close` can destroy. */
export type OpenLink = (address: BrokerAddress) => BrokerLink;

/**
 * Finds the partitions' leaders, from whichever broker answers first. Creates a topic never found before, and verifies
 * settings whenever it may be another.
 */
export class TopicDiscovery {
  readonly #kafkajs: Kafkajs;
  readonly #wanted: WantedTopic;
  readonly #openLink: OpenLink;
  /** Brokers in the order of trying: last answered first, last failed last. */
  #candidates: readonly BrokerAddress[];
  #mayCreate = true;
  #isVerified = false;
  #verifiedId: Buffer | null = null;

  constructor(kafkajs: Kafkajs, wanted: WantedTopic, brokers: readonly BrokerAddress[], openLink: OpenLink) {
    this.#kafkajs = kafkajs;
    this.#wanted = wanted;
    this.#candidates = brokers;
    this.#openLink = openLink;
  }

  /** Tries each known broker once. A deleted topic is not created again. */
  async find(): Promise<TopicMetadata> {
    let failure: unknown;
    for (const address of this.#candidates) {
      const link = this.#openLink(address);
      try {
        const metadata = await this.#ask(link);
        this.#remember(address, metadata);
        return metadata;
      } catch (error) {
        failure = kafkaUnusable(error, this.#wanted, 'any') ?? error;
        if (failure instanceof TopicUnusable) throw failure;
        this.avoid(address);
      } finally {
        link.destroy(new Error('no longer needed'));
      }
    }
    throw failure;
  }

  avoid(address: BrokerAddress): void {
    const others = this.#candidates.filter((each) => !isSame(each, address));
    this.#candidates = [...others, ...this.#candidates.filter((each) => isSame(each, address))];
  }

  async #ask(link: BrokerLink): Promise<TopicMetadata> {
    await link.connect();
    let metadata = await fetchTopicMetadata(this.#kafkajs, link, this.#wanted.topic);
    if (!metadata.exists && this.#mayCreate) {
      await this.#create(metadata.controller);
      metadata = await untilLed(this.#kafkajs, link, this.#wanted.topic);
    }
    if (!metadata.exists) this.#isVerified = false;
    else if (!this.#isVerified || !isSameId(metadata.topicId, this.#verifiedId)) await this.#verify(link, metadata);
    return metadata;
  }

  async #create(controller: BrokerAddress): Promise<void> {
    const link = this.#openLink(controller);
    try {
      await link.connect();
      await createKafkaTopic(this.#kafkajs, link, this.#wanted);
    } catch (error) {
      throw kafkaUnusable(error, this.#wanted, 'Create') ?? error;
    } finally {
      link.destroy(new Error('no longer needed'));
    }
  }

  async #verify(link: BrokerLink, { leaders, topicId }: TopicMetadata): Promise<void> {
    try {
      await verifyTopic(this.#kafkajs, link, this.#wanted, leaders.length);
    } catch (error) {
      throw kafkaUnusable(error, this.#wanted, 'DescribeConfigs') ?? error;
    }
    this.#isVerified = true;
    this.#verifiedId = topicId;
    this.#mayCreate = false;
  }

  #remember(answered: BrokerAddress, { leaders }: TopicMetadata): void {
    const known = [answered, ...this.#candidates, ...leaders.filter((leader) => leader !== null)];
    this.#candidates = known.filter((each, i) => known.findIndex((other) => isSame(each, other)) === i);
  }
}

function isSameId(a: Buffer | null, b: Buffer | null): boolean {
  return a === b || (a !== null && b !== null && a.equals(b));
}

function isSame(a: BrokerAddress, b: BrokerAddress): boolean {
  return nameOf(a) === nameOf(b);
}
