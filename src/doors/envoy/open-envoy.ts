import type { Access } from '../../base/access/access.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { EnvoyDoor } from './envoy-door.js';
import type { EnvoyStatus } from './envoy-status.js';
import type { RuleFiles } from './rules/rule-files.js';
import type { XdsRules } from './xds/xds-rules.js';

/** Follows the rules where they come from. */
export type RuleSource = RuleFiles | XdsRules;

/** Reads the rules of the configuration; null = there are none. Throws CONFIG_UNREADABLE, RULES_INVALID. */
export async function openRules(config: ResolvedConfig, telemetry: Telemetry): Promise<RuleSource | null> {
  const { rules, xds } = config.envoy;
  if (xds !== null) return new (await import('./xds/xds-rules.js')).XdsRules(config, xds, telemetry);
  if (rules === null) return null;
  return new (await import('./rules/rule-files.js')).RuleFiles(config, rules, telemetry);
}

/** Parts of a door; the node began with the configuration of its rules. */
export interface EnvoyParts {
  readonly node: NodeParts;
  readonly access: Access;
  readonly rules: RuleSource | null;
  readonly telemetry: Telemetry;
}

/** A node's door, and its status. */
export interface MadeEnvoy {
  readonly door: EnvoyDoor | null;
  readonly status: (() => EnvoyStatus) | undefined;
}

/** Makes the gRPC listener of the configuration, which does not listen yet; null = it has none. */
export async function createEnvoy({ node, access, rules, telemetry }: EnvoyParts): Promise<MadeEnvoy> {
  const { listen } = node.config.envoy;
  if (listen === null) return { door: null, status: undefined };
  const { EnvoyDoor } = await import('./envoy-door.js');
  const { envoyStatus } = await import('./envoy-status.js');
  const door = new EnvoyDoor(node, listen, telemetry, access, rules?.book ?? null);
  return { door, status: () => envoyStatus(door, rules) };
}
