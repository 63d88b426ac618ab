import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { ALONE_EPOCH, AloneTopic } from '../../topic/alone/alone-topic.js';
import type { GroupsInForce } from '../groups/groups-in-force.js';
import { KnownNodesFile } from './known-nodes.js';
import type { NodeLoop } from './node-loop.js';

export interface AloneStartParts {
  readonly config: ResolvedConfig;
  readonly telemetry: Telemetry;
  /** The topic that may be away. */
  readonly topic: ReportTopic;
}

/** `start.policy: alone`: a node that starts while the topic is away decides with its part of each quota. */
export class AloneStart {
  /** The topic for the node, which begins with a log of its own where the given one is away. */
  readonly topic: AloneTopic;
  readonly #config: ResolvedConfig;
  readonly #telemetry: Telemetry;
  readonly #file: KnownNodesFile | null;
  #seenMs = -Infinity;

  constructor({ config, telemetry, topic }: AloneStartParts) {
    const { file } = config.start;
    this.#config = config;
    this.#telemetry = telemetry;
    this.#file = file === null ? null : new KnownNodesFile(file, config.cluster, telemetry);
    const configured = 'partitions' in config.topic ? config.topic.partitions : 1;
    const partitions = this.#file?.kept?.partitions ?? configured;
    this.topic = new AloneTopic(topic, {
      partitions,
      patienceMs: config.timing.isolationAfterMs,
      mayBeginAlone: () => this.#mayBegin(),
      partitionsDiffer: (found) => {
        const reason = `this node started alone with ${partitions} partitions, and the topic has ${found}`;
        return new QuotameshError('TOPIC_UNREACHABLE', { topic: config.topic.kind, reason });
      },
    });
  }

  /** An epoch begins: `tell` tells the loop. Groups are divided before the first epoch is told, and whole after the next. */
  epochBegins(epoch: string, inForce: GroupsInForce, tell: (nodesApart?: number) => void): void {
    const nodes = this.#nodes;
    if (epoch === ALONE_EPOCH && nodes !== null) inForce.divide(nodes);
    tell(inForce.dividedBy ?? 0);
    if (epoch === ALONE_EPOCH || inForce.dividedBy === null) return;
    // Now the node holds what it had until it has read the topic, so that nothing rises by this.
    inForce.divide(null);
    this.#telemetry.log('info', 'the topic has come: this node is no longer alone, and joins the others');
  }

  /** Called in each round. */
  keep(loop: NodeLoop, inForce: GroupsInForce, nowMs: number): void {
    if (this.#file === null || nowMs - this.#seenMs < SEEN_EVERY_MS) return;
    this.#seenMs = nowMs;
    const { coordinator } = loop;
    if (coordinator === null || !coordinator.isReady || inForce.dividedBy !== null) return;
    const { link, log, membership } = coordinator;
    // A node that hears nobody, or that reads another log just now, knows less than it did.
    if (link.isolatedPartitions.length > 0 || log.epochs.isHolding) return;
    this.#file.seen({ nodes: membership.alive.length, partitions: this.topic.partitions }, nowMs);
  }

  #mayBegin(): boolean {
    const nodes = this.#nodes;
    if (nodes === null) {
      const text = 'the topic is away, and start.file and start.nodeCount do not say how many nodes there are: waiting';
      this.#telemetry.log('warn', text);
      return false;
    }
    const facts = { nodeCount: nodes, topic: this.#config.topic.kind };
    this.#telemetry.log(
      'warn',
      'the topic is away at the start: this node decides alone, with quota / nodeCount',
      facts,
    );
    return true;
  }

  /** The larger one of what the file and the configuration say; null = neither says it. */
  get #nodes(): number | null {
    const said = [this.#file?.kept?.nodes, this.#config.start.nodeCount].flatMap((nodes) => nodes ?? []);
    return said.length === 0 ? null : Math.max(...said);
  }
}

const SEEN_EVERY_MS = 1000;
