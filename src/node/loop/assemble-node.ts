import { randomInt } from 'node:crypto';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { groupIdOf } from '../../core/base/ids.js';
import { DIRECTION_COUNT } from '../../core/base/vocabulary.js';
import { Attachments } from '../../core/beside/attachments/attachments.js';
import { templateEntry } from '../../core/beside/registry/registry-record.js';
import { Limiter } from '../../core/limiter/limiter.js';
import { RecordCodec } from '../../topic/codec/record-codec.js';
import { Gate } from '../admission/gate.js';
import { BackendPoller } from '../backends/backend-poller.js';
import { reportBackend } from '../backends/report-backend.js';
import { reportCost } from '../backends/report-cost.js';
import { Enforcers } from '../enforcers/enforcers.js';
import { GroupTable } from '../groups/group-table.js';
import { GroupsInForce } from '../groups/groups-in-force.js';
import { KeyBook } from '../groups/keys/key-book.js';
import { KeyTemplates } from '../groups/keys/key-templates.js';
import { GroupRegistry } from '../groups/registry/group-registry.js';
import { YamlComparison } from '../groups/yaml/yaml-comparison.js';
import { YamlGroups } from '../groups/yaml/yaml-groups.js';
import { BusyWatch } from '../status/busy-watch.js';
import { notReadyBecause } from '../status/describe-node.js';
import { TargetLog } from '../status/target-log.js';
import { budgetClock } from '../strict/budget-clock.js';
import { BudgetLanes } from '../strict/budget-lanes.js';
import { SlotLanes } from '../strict/slot-lanes.js';
import { StrictLanes } from '../strict/strict-lanes.js';
import { firstLife, StrictLog } from '../strict/strict-log.js';
import { AloneStart } from './alone-start.js';
import { guarded } from './guarded-telemetry.js';
import { NodeLife } from './node-life.js';
import { NodeLoop } from './node-loop.js';
import type { NodeParts } from './node-parts.js';
import { createStrictTopic } from './open-topics.js';
import { TopicPump } from './topic-pump.js';
import { WakingClock } from './waking-clock.js';

/** Inputs of a node's assembly. */
export interface AssemblyOptions {
  readonly config: ResolvedConfig;
  readonly topic: ReportTopic;
  /** Log of groups of run time; without it there are none. */
  readonly registryTopic?: ReportTopic | null;
  readonly telemetry: Telemetry;
  readonly version: string;
  /** Random 16-bit number, see CoordinatorSettings. */
  readonly nonce: number;
  /** Default: that of `wakingClock`. */
  readonly clock?: Clock;
  /** Default: this machine's; none beside `clock`. */
  readonly wakingClock?: WakingClock;
}

/** All nodes read the definition from one log. */
const NOBODY = { relaxed: [], unknown: [] };

/**
 * Composes a node, each part from those that it uses; nothing happens before `life.start()`. Parts that need each other
 * (loop and admission, YAML and registry) get functions that are called once both are made.
 */
export function assembleParts(options: AssemblyOptions): NodeParts {
  const { config, registryTopic = null, version, nonce } = options;
  const telemetry = guarded(options.telemetry);
  const startsAlone = config.start.policy === 'alone' && config.topic.kind !== 'none';
  const alone = startsAlone ? new AloneStart({ config, telemetry, topic: options.topic }) : null;
  const topic = alone?.topic ?? options.topic;
  const { cluster, nodeId, limits, defaultGroup } = config;
  const wakingClock = options.clock === undefined ? (options.wakingClock ?? new WakingClock()) : null;
  const clock = options.clock ?? (wakingClock as WakingClock).clock;
  const startedMs = clock();
  const whyNotReady = () => notReadyBecause(parts).join('; ');
  const notReady = () => new QuotameshError('NOT_READY', { node: nodeId, reason: whyNotReady() });

  const groups = new GroupTable(config.groups, (name) => groupIdOf(cluster, name));
  const limiter = new Limiter(groups.size * DIRECTION_COUNT);
  const attachments = new Attachments(config.attachments, (group) => {
    return groups.numbers.has(group) || keys?.isKey(group) === true;
  });

  // From the topic to the shares, and back.
  const loop = new NodeLoop({
    config,
    version,
    nonce,
    clock,
    wakingClock,
    topic,
    groups,
    limiter,
    telemetry,
    notReady,
    outlets: {
      send: (appends) => pump.send(appends),
      isFree: (lane) => gate.isFree(lane),
      isStrict: (lane) => strict.get(lane) !== undefined,
      limitsChanged: (lanes) => gate.waiting.limitsChanged(lanes),
      becameReady: () => gate.waiting.wakeAll(),
      keep: (nowMs) => {
        gate.keep(nowMs);
        enforcers.keep(nowMs);
        alone?.keep(loop, inForce, nowMs);
      },
      afterRound: (nowMs) => {
        targetLog.round(nowMs);
        busy.round(nowMs);
      },
      fenced: (error) => {
        strict.close();
        slots.close();
        budgets.close();
        void strictLog.close();
        life.fenced(error);
      },
    },
  });
  const pump = new TopicPump(topic, new RecordCodec(cluster), telemetry, {
    onEpoch: (epoch) => {
      const tell = (nodesApart = 0) => loop.step({ kind: 'epoch-began', epoch, nodesApart });
      if (alone === null) tell();
      else alone.epochBegins(epoch, inForce, tell);
    },
    onRead: (records) => loop.step({ kind: 'records-read', records }),
    onCaughtUp: () => loop.step({ kind: 'caught-up' }),
    onAppendFailed: (partition, keys) => loop.step({ kind: 'append-failed', partition, keys }),
  });

  const { keys: keySettings } = config;
  // Keys need a topic to be published.
  const keys =
    config.topic.kind === 'none'
      ? null
      : new KeyBook({
          cluster,
          keys: keySettings,
          limits,
          shareValidMs: config.timing.shareValidMs,
          hashSeed: randomInt(2 ** 32),
          clock,
          telemetry,
          groups,
          limiter,
          loop,
          dividedBy: () => inForce.dividedBy,
          define: (group) => inForce.defineKey(group),
          rename: (number, group) => inForce.renameKey(number, group),
          remove: (group) => inForce.removeKey(group),
        });
  const templates = new KeyTemplates({
    configured: keySettings.templates,
    registry: config.registry,
    telemetry,
    use: (inUse) => {
      keys?.use(inUse);
      gate.templatesChanged(inUse);
      if (gate.keepsKeys) strictLog.expectKeys();
    },
  });

  const busy = new BusyWatch({ config, groups, loop }, telemetry);

  const strictLog = new StrictLog({
    node: nodeId,
    cluster,
    life: firstLife(Date.now()),
    clock,
    look: () => wakingClock?.look(),
    telemetry,
    createTopic: () => createStrictTopic(config, telemetry),
  });
  const strict = new StrictLanes({
    log: strictLog,
    cluster,
    groups,
    clock,
    telemetry,
    loop,
    promisesOf: (group) => (isRegistered(group) ? NOBODY : comparison.promisesOf(group)),
    changed: (group) => inForce.define(groups.at(group)),
  });
  const slots = new SlotLanes({ log: strictLog, cluster, groups, telemetry, maxKeys: keySettings.maxLoud });

  const budgets = new BudgetLanes({
    log: strictLog,
    cluster,
    groups,
    telemetry,
    wall: budgetClock(clock),
    maxKeys: keySettings.maxLoud,
  });

  // From a request to its answer.
  const gate = new Gate({
    limiter,
    clock,
    groups,
    keys,
    attachments,
    limits,
    strictLanes: strict,
    slotLanes: slots,
    budgets,
    defaultGroup,
    loop,
    whyNotReady,
    chargeCosts: (names, costs, how) => reportCost({ config, clock, gate, loop, notReady }, names, costs, how),
  });

  gate.templatesChanged(keySettings.templates);
  if (gate.keepsKeys) strictLog.expectKeys();

  gate.onLetOff = (group, direction) =>
    telemetry.log('warn', 'work that cannot be refused exceeds debtMs of debt; further amounts are only counted', {
      group,
      direction,
      remedy: 'Give the role consume to fewer callers, or stop the enforcer that admits more than it is told.',
    });
  const enforcers = new Enforcers({ limiter, clock, groups, loop, shadows: gate.shadows });

  const inForce = new GroupsInForce({ groups, limiter, gate, loop });
  const isRegistered = (name: string) => {
    // Templates are compared by patterns, which no group has for a name.
    const entry = name.includes('{') ? templateEntry(name) : name;
    return registry !== null && registry.stateOf(entry).definition !== null;
  };
  const differences = () => registry?.comparison.differences ?? [];
  const yaml = new YamlGroups({ config, telemetry, inForce, attachments, templates, isRegistered, differences });
  const comparison = new YamlComparison({
    cluster,
    nodeId,
    version,
    telemetry,
    clock,
    loop,
    groups,
    yaml,
    isRegistered,
  });
  const registry =
    registryTopic &&
    new GroupRegistry({
      cluster,
      nodeId,
      settings: config.registry,
      topic: registryTopic,
      telemetry,
      clock,
      groups,
      inForce,
      yaml,
      comparison,
      attachments,
      templates,
      notReady,
    });

  const poller = new BackendPoller({
    config,
    clock,
    loop,
    telemetry,
    reportBackend: (backend, health) => reportBackend({ config, loop, notReady }, backend, health),
  });
  const life = new NodeLife({
    registry,
    pump,
    loop,
    gate,
    enforcers,
    poller,
    telemetry,
    keys,
    strict,
    slots,
    budgets,
    strictLog,
    aloneTopic: alone?.topic ?? null,
  });
  const parts: NodeParts = {
    config,
    version,
    startedMs,
    clock,
    telemetry,
    topic,
    pump,
    limiter,
    groups,
    keys,
    templates,
    attachments,
    inForce,
    yaml,
    registry,
    gate,
    strict,
    slots,
    budgets,
    enforcers,
    poller,
    busy,
    loop,
    life,
    notReady,
  };
  const targetLog = new TargetLog(parts, telemetry);
  return parts;
}
