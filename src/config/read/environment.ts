import { isMapping } from '../../base/input/mapping.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import { environmentName, SECTIONS, yamlPath } from '../schema/all-settings.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { TOKEN_VARIABLE, UNIX } from '../setting/outside-words.js';
import { mustBe } from '../setting/setting-text.js';
import { valueAt } from '../setting/setting-value.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** From the command line; wins over everything else. */
export interface ConfigOverrides {
  readonly nodeId?: string | undefined;
  /** HOST:PORT, PORT or unix:PATH. */
  readonly http?: string | undefined;
  /** `host:port` for MQTT. */
  readonly mqtt?: string | undefined;
  readonly group?: GroupOverrides | undefined;
}

/** Settings of one group by their names below it, `quota.publish.messagesPerSecond`: `sim replay --set` and `--quota`. */
export interface GroupOverrides {
  /** Path of the group, `groups.orders` or `keys.key:{id}`. */
  readonly at: readonly string[];
  readonly settings: ReadonlyMap<string, OverriddenSetting>;
}

export interface OverriddenSetting {
  readonly text: string;
  /** Flag of the command line, for messages. */
  readonly flag: string;
}

/** Lays `QUOTAMESH_…` variables over the configuration as written. An empty variable counts as not set. */
export function withEnvironment(raw: unknown, environment: Environment, findings: Findings): unknown {
  const given = settingsOf(environment, findings);
  let result = given.has('topic.kind') ? withTopicOfKind(raw, given.get('topic.kind')!.text) : raw;
  for (const [key, { variable, text }] of given) {
    const path = key.split('.');
    findings.setOrigin(path, variable);
    if (!FILE_VARIABLES.has(variable)) result = putAt(result, path, text);
    else if (given.has(key.slice(0, -FILE_KEY.length))) {
      const problem = `and ${variable.slice(0, -FILE_SUFFIX.length)} exclude each other`;
      findings.add(path, { problem, allowed: 'one of the two', remedy: 'Remove one of the two.' });
    } else result = putAt(result, path.slice(0, -1), { file: text });
  }
  return result;
}

/** Lays the flags of the command line over all. */
export function withOverrides(raw: unknown, overrides: ConfigOverrides, findings: Findings): unknown {
  const { nodeId, http, mqtt, group } = overrides;
  let result = raw;
  for (const [name, { text, flag }] of group?.settings ?? []) {
    const path = [...(group?.at ?? []), ...name.split('.')];
    result = putAt(result, path, text);
    findings.setOrigin(path, flag);
  }
  if (nodeId !== undefined) {
    result = putAt(result, ['node'], nodeId);
    findings.setOrigin(['node'], '--node');
  }
  return withAddress(withAddress(result, 'http', http, findings), 'mqtt', mqtt, findings);
}

function withAddress(raw: unknown, section: 'http' | 'mqtt', given: string | undefined, findings: Findings): unknown {
  if (given === undefined) return raw;
  const flag = `--${section}`;
  if (section === 'http' && given.startsWith(UNIX)) {
    findings.setOrigin(['http', 'socket'], flag);
    return putAt(raw, ['http', 'socket'], given.slice(UNIX.length));
  }
  const match = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(given);
  if (match === null) {
    const allowed = section === 'http' ? 'HOST:PORT, PORT or unix:PATH' : 'HOST:PORT or PORT';
    findings.setOrigin([flag], 'command line');
    findings.add([flag], mustBe(allowed, given, `For example ${flag} 127.0.0.1:${section === 'http' ? 7070 : 1883}.`));
    return raw;
  }
  const host = match[1]?.replace(/^\[|\]$/g, '');
  const onTcp = section === 'http' ? putAt(raw, ['http', 'socket'], undefined) : raw;
  const result = host === undefined ? onTcp : putAt(onTcp, [section, 'host'], host);
  findings.setOrigin([section, 'host'], flag);
  findings.setOrigin([section, 'port'], flag);
  return putAt(result, [section, 'port'], match[2]);
}

const FILE_SUFFIX = '_FILE';
const FILE_KEY = '.file';

const NAMED = SECTIONS.flatMap((section) =>
  Object.entries(section.rows).flatMap(([key, { mayBeFile }]) => {
    const variable = environmentName(section, key);
    return variable === null ? [] : [{ variable, path: yamlPath(section, key), mayBeFile }];
  }),
);

/** `QUOTAMESH_TOPIC_SASL_PASSWORD_FILE` → `topic.sasl.password.file`. */
const FILE_VARIABLES: ReadonlyMap<string, string> = new Map(
  NAMED.filter(({ mayBeFile }) => mayBeFile).map(({ variable, path }) => [variable + FILE_SUFFIX, path + FILE_KEY]),
);

/** Every variable of the settings table → the YAML path it sets. */
export const VARIABLES: ReadonlyMap<string, string> = new Map([
  ...FILE_VARIABLES,
  ...NAMED.map(({ variable, path }) => [variable, path] as const),
]);

function settingsOf(environment: Environment, findings: Findings) {
  const given = new Map<string, { readonly variable: string; readonly text: string }>();
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('QUOTAMESH_') || text === undefined || text === '') continue;
    if (variable === TOKEN_VARIABLE || isServiceLink(variable, text)) continue;
    const key = VARIABLES.get(variable);
    if (key === undefined) addUnknown(variable, findings);
    else given.set(key, { variable, text });
  }
  return given;
}

function addUnknown(variable: string, findings: Findings): void {
  findings.setOrigin([variable], 'environment');
  const near = didYouMean(variable, VARIABLES.keys());
  const remedy = near || 'Remove it, or see docs/reference/settings.md for the variables there are.';
  findings.add([variable], { problem: 'is not a known variable', allowed: [...VARIABLES.keys()].join(', '), remedy });
}

/**
 * Tests for variables that Kubernetes makes beside a Service named quotamesh…: QUOTAMESH_SERVICE_HOST,
 * QUOTAMESH_PORT=tcp://…, QUOTAMESH_HTTP_PORT_7070_TCP_ADDR. Container links did so before. They are nobody's mistake.
 */
function isServiceLink(variable: string, text: string): boolean {
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(variable)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(variable)) return true;
  return variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text);
}

/** Drops the file's topic if a variable names another kind. Its keys do not apply to that. */
function withTopicOfKind(raw: unknown, kind: string): unknown {
  const written = valueAt(raw, 'topic.kind') ?? 'embedded';
  return written === kind ? raw : putAt(raw, ['topic'], { kind });
}

/** A copy with `value` at the path. What is no mapping on the way stays as it is: its own mistake is reported. */
function putAt(target: unknown, path: ConfigPath, value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (target !== undefined && target !== null && !isMapping(target)) return target;
  const copy: Record<string, unknown> = { ...target };
  copy[name] = putAt(copy[name], rest, value);
  return copy;
}
