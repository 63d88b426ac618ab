import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isMapping } from '../../base/input/mapping.js';
import type { OtherConstants } from '../resolved/constants.js';
import type { ResolvedConfig } from '../resolved/resolved-config.js';
import { readAttachments } from '../rules/attachment-definition.js';
import { readKafkaQuotas } from '../rules/read-kafka-quotas.js';
import { type NamesInUse, readMqttRules } from '../rules/read-rules.js';
import { notAMapping } from '../schema/read-section.js';
import { SHARED_KINDS } from '../schema/topic-kinds.js';
import { ConfigError, type Examined } from '../setting/config-error.js';
import { Findings, type Locate } from '../setting/findings.js';
import { mayBothMatch, selectorOf } from '../setting/metric-selector.js';
import { show } from '../setting/setting-text.js';
import { valueAt } from '../setting/setting-value.js';
import { buildConfig, type ConfigParts } from './build-config.js';
import { withBurstsInFull } from './burst-in-full.js';
import { checkAllBudgets } from './check-budgets.js';
import { checkGroups } from './check-groups.js';
import { checkRelations } from './check-relations.js';
import { checkAllSlots } from './check-slots.js';
import { checkStrict } from './check-strict.js';
import { type ConfigOverrides, type Environment, withEnvironment, withOverrides } from './environment.js';
import { readAuth } from './read-auth.js';
import { readBackends } from './read-backends.js';
import { readEnvoyRules } from './read-envoy.js';
import { checkGroupNames, readGroups } from './read-groups.js';
import { readKeys } from './read-keys.js';
import { checkReach, readListenerTls } from './read-listeners.js';
import { readNode, type SoundNode } from './read-node.js';
import { readTextFile } from './read-text-file.js';
import type { FileContext } from './read-texts.js';
import { readTopic } from './read-topic.js';
import { withUnitsBehindAmounts } from './units-in-keys.js';

export interface ResolveOptions {
  /** For messages: the file, or `(inline)`. */
  readonly source: string;
  readonly env?: Environment | undefined;
  readonly overrides?: ConfigOverrides | undefined;
  readonly locate?: Locate | undefined;
  /** Relative paths start here; default: the working folder. */
  readonly folder?: string | undefined;
  /** Takes the place of single constants, which no configuration sets: for tests. */
  readonly constants?: OtherConstants | undefined;
  /** First part of the default node id. */
  readonly hostName?: string | undefined;
  /** Reads a secret or certificate. Pure but for this and the host name, which tests replace. */
  readonly readFile?: ((path: string, bytesMax: number) => string) | undefined;
}

/**
 * Turns what YAML or a program says into a node's configuration. It is complete, checked, frozen. Throws a ConfigError.
 */
export function resolveConfig(raw: unknown, options: ResolveOptions): ResolvedConfig {
  const { config, mistakes } = examineConfig(raw, options);
  if (config === null) throw new ConfigError(options.source, mistakes);
  return config;
}

/** The same, with the mistakes as a result. */
export function examineConfig(raw: unknown, options: ResolveOptions): Examined<ResolvedConfig> {
  const findings = new Findings(options.source, options.locate);
  const root = withAllLayers(raw, options, findings) ?? {};
  if (!isMapping(root)) {
    findings.add([], notAMapping(['cluster', 'topic', 'groups'], root));
    return { config: null, mistakes: findings.mistakes };
  }
  const node = readNode(root, findings, options.hostName ?? hostname());
  const context = { folder: options.folder ?? '.', readFile: options.readFile ?? readTextFile };
  const access = readAccess(root.auth, node, findings, context);
  const topic = readTopic(root.topic, findings, { nodeId: node.node, ...context });
  const isAlone = topic?.kind === 'none';
  const groups = readGroups(root, findings);
  const keys = readKeys(root, findings, isAlone);
  const backends = readBackends(root.backends, findings);
  if (isAlone) checkAlone(root, findings);
  checkGroups(groups, root, findings, isAlone);
  checkRelations({ ...node, topic }, root, findings);
  checkGroupNames(node, groups, findings);
  const isKey = (name: string) => keys.templates.some(({ pattern }) => pattern.matches(name));
  const names: NamesInUse = {
    has: (name) => groups.has(name) || isKey(name),
    [Symbol.iterator]: () => groups.keys(),
  };
  const mqttRules = readMqttRules(valueAt(root, 'mqtt.rules'), names, findings);
  checkMetricSelectors(node.kafkaQuotas?.metrics ?? {}, findings);
  const kafkaQuotas = readKafkaQuotas(root.kafkaQuotas, { topicKind: topic?.kind, groups, isKey }, findings);
  const attachments = readAttachments(root.attachments, names, findings);
  const beside = { topicKind: topic?.kind, limits: node.limits, attachments, mqttRules };
  checkStrict(groups, findings, beside);
  checkAllSlots(groups, keys.templates, findings, { ...beside, kafkaQuotas: kafkaQuotas.entities });
  checkAllBudgets(groups, keys.templates, findings, beside);
  if (findings.mistakes.length > 0) return { config: null, mistakes: findings.mistakes };
  const fileOf = (file: unknown) => (typeof file === 'string' ? resolve(context.folder, file) : null);
  const config = buildConfig({
    source: options.source,
    // Without mistakes every field is there.
    ...({ node, topic, backends, groups } as Pick<ConfigParts, 'node' | 'topic' | 'backends' | 'groups'>),
    keys,
    decisionsFile: fileOf(node.log.decisionsFile),
    startFile: fileOf(node.start.file),
    ...access,
    mqttRules,
    kafkaQuotas,
    attachments,
    constants: options.constants ?? {},
  });
  return { config, mistakes: [] };
}

/** Lays variables and flags over the text. They set single keys, which a short form does not have. */
function withAllLayers(raw: unknown, { env = {}, overrides = {} }: ResolveOptions, findings: Findings): unknown {
  const text = withUnitsBehindAmounts(withShorthands(raw), findings);
  const written = isMapping(text) ? withBurstsInFull(text, findings) : text;
  return withOverrides(withEnvironment(written, env, findings), overrides, findings);
}

/** Reads who may call the node and how it listens. What they may do comes after. */
function readAccess(written: unknown, node: SoundNode, findings: Findings, context: FileContext) {
  const { auth, files } = readAuth(written, findings, context);
  checkReach(node, auth, findings);
  const listeners = readListenerTls(node, auth, findings, context);
  const { files: xdsFiles, ...ofEnvoy } = readEnvoyRules(node, findings, context);
  return { auth, ...listeners, ...ofEnvoy, files: [...files, ...listeners.files, ...xdsFiles] };
}

/** `topic: embedded` and `tls: true` in full, so that single keys can be laid over them. */
function withShorthands(raw: unknown): unknown {
  if (!isMapping(raw)) return raw;
  const topic = typeof raw.topic === 'string' ? { kind: raw.topic } : raw.topic;
  if (!isMapping(topic) || typeof topic.tls !== 'boolean') return { ...raw, topic };
  return { ...raw, topic: { ...topic, tls: { enabled: topic.tls } } };
}

/** Without a topic nobody knows what others want: a strategy that would have to know is refused, not replaced. */
function checkAlone(root: Readonly<Record<string, unknown>>, findings: Findings): void {
  const groups = isMapping(root.groups) ? Object.entries(root.groups) : [];
  const written: [(string | number)[], unknown][] = [
    [['defaults'], root.defaults],
    ...groups.map(([name, group]): [string[], unknown] => [['groups', name], group]),
  ];
  for (const [path, group] of written) {
    const strategy = isMapping(group) ? (group.strategy ?? null) : null;
    if (strategy === null || strategy === 'equal') continue;
    findings.add([...path, 'strategy'], {
      problem: `must be equal with topic kind none, got ${show(strategy)}: it needs the reports of other nodes`,
      allowed: 'equal',
      remedy: `Remove it, or share a topic: ${SHARED_KINDS}.`,
    });
  }
}

/** The settings of `kafkaQuotas.metrics` that select series. */
const SELECTORS = ['producerRate', 'producerThrottle', 'consumerRate', 'consumerThrottle'] as const;

type Selectors = { readonly [Name in (typeof SELECTORS)[number]]?: string | undefined };

/** Refuses two selectors of one series: a producer's bytes would count as a consumer's. */
function checkMetricSelectors(metrics: Selectors, findings: Findings): void {
  const read = SELECTORS.flatMap((name) => {
    const text = metrics[name];
    return text === undefined ? [] : [{ name, text, selector: selectorOf(text) }];
  });
  for (const [at, { name, text, selector }] of read.entries()) {
    const first = read.slice(0, at).find((other) => mayBothMatch(other.selector, selector));
    if (first === undefined) continue;
    const problem = `must match other series than kafkaQuotas.metrics.${first.name} = ${show(first.text)}, got ${show(text)}`;
    const allowed = 'another metric, or another value of a label that both name';
    const remedy = `Name the label that tells them apart, e.g. ${selector.metric}{type="Produce"} and ${selector.metric}{type="Fetch"}.`;
    findings.add(['kafkaQuotas', 'metrics', name], { problem, allowed, remedy });
  }
}
