import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { ALONE_EPOCH, AloneTopic } from '../../topic/alone/alone-topic.js';
import type { GroupsInForce } from '../groups/groups-in-force.js';
import { KnownNodesFile } from './known-nodes.js';
import type { NodeLoop } from './node-loop.js';

interface AloneStartParts {
  readonly config: ResolvedConfig;
  readonly telemetry: Telemetry;
  readonly topic: ReportTopic;
}

/** Lets a node start without its topic (`start.policy: alone`). It decides with its part of each quota. */
export class AloneStart {
  /** Topic of the node; begins with a log of its own where the given one is away. */
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
        const reason = `this node started alone with ${partitions} partitions, it has ${found}: set topic.partitions to ${found}, and start this node again`;
        return new QuotameshError('TOPIC_SETTINGS', { topic: config.topic.kind, reason });
      },
    });
  }

  /** Begins an epoch: divides groups before the first, makes them whole after the next. */
  epochBegins(epoch: string, inForce: GroupsInForce, tell: (nodesApart?: number) => void): void {
    const nodes = this.#nodes;
    if (epoch === ALONE_EPOCH && nodes !== null) inForce.divide(nodes);
    tell(inForce.dividedBy ?? 0);
    if (epoch === ALONE_EPOCH || inForce.dividedBy === null) return;
    // The node holds what it had until it has read the topic.
    inForce.divide(null);
    this.#telemetry.log('info', 'the topic has come: this node is no longer alone, and joins the others');
  }

  /** Keeps the cluster size in the file up to date; called every round. */
  keep(loop: NodeLoop, inForce: GroupsInForce, nowMs: number): void {
    if (this.#file === null || nowMs - this.#seenMs < SEEN_EVERY_MS) return;
    this.#seenMs = nowMs;
    const { coordinator } = loop;
    if (coordinator === null || !coordinator.isReady || inForce.dividedBy !== null) return;
    const { link, log, membership } = coordinator;
    // Isolated, or in a new log, a node knows less than before.
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

  /** The larger of file and configuration; null = neither has one. */
  get #nodes(): number | null {
    const said = [this.#file?.kept?.nodes, this.#config.start.nodeCount].flatMap((nodes) => nodes ?? []);
    return said.length === 0 ? null : Math.max(...said);
  }
}

const SEEN_EVERY_MS = 1000;
