import { z } from 'zod';
import { Access } from '../../base/access/access.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent, told } from '../../base/input/input-mistakes.js';
import { isMapping, type Mapping } from '../../base/input/mapping.js';
import { optionMistakes } from '../../base/input/option-mistakes.js';
import { silentTelemetry } from '../../base/ports/telemetry.js';
import { loadConfig } from '../../config/files/load-config.js';
import { resolveConfig } from '../../config/read/resolve-config.js';
import type { OtherConstants } from '../../config/resolved/constants.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { NODE_NAME } from '../../config/setting/setting.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { EmbeddedNode } from '../../node/loop/embedded-node.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { assembleNode, startParts } from '../../node/loop/start-node.js';
import { createEnvoy, openRules, type RuleSource } from '../envoy/open-envoy.js';
import { type CreateNodeOptions, HANDLER } from './create-node.js';
import { EnvoyNode } from './envoy-node.js';

export async function startWithOptions(options: CreateNodeOptions): Promise<QuotaNode> {
  rejectWrongOptions(options);
  const { telemetry = silentTelemetry, readyTimeoutMs } = options;
  const config = await configOf(options);
  const rules = await openRules(config, telemetry);
  const parts = await assembleNode(rules?.book.config ?? config, telemetry);
  const doors = await openDoors(parts, rules, options).catch(async (error: unknown) => {
    await parts.life.close();
    throw error;
  });
  await startParts(parts, readyTimeoutMs).catch(async (error: unknown) => {
    await Promise.all([doors.envoy?.close(), doors.http?.close()]);
    throw error;
  });
  return doors.envoy === null ? new EmbeddedNode(parts, doors.http) : new EnvoyNode(doors.envoy, parts, doors.http);
}

/** Opens the listeners that are asked for: HTTP by the options, gRPC by the configuration. Throws ADDRESS_IN_USE. */
async function openDoors(parts: NodeParts, rules: RuleSource | null, { http: asked }: CreateNodeOptions) {
  const { config, telemetry, clock } = parts;
  const access = new Access(config.auth, clock, telemetry);
  const { door, status } = await createEnvoy({ node: parts, access, rules, telemetry });
  // Fastify takes 50 ms to load, which nodes without HTTP save.
  const opening = asked === undefined ? null : (await import('./embedded-http.js')).openEmbeddedHttp;
  const http = (await opening?.(parts, access, { isHandler: asked === HANDLER, envoy: status })) ?? null;
  if (door === null) return { http, envoy: null };
  try {
    telemetry.log('info', 'envoy listening', { url: await door.listen() });
  } catch (error) {
    await http?.close();
    throw error;
  }
  rules?.start(parts.yaml);
  const close = async () => {
    rules?.close();
    await door.close();
  };
  return { http, envoy: { close } };
}

export async function configOf(options: CreateNodeOptions, constants?: OtherConstants): Promise<ResolvedConfig> {
  const { config, nodeId, http, env = process.env } = options;
  const overrides = {
    ...(nodeId !== undefined && { nodeId }),
    ...(http !== undefined && http !== HANDLER && { http }),
  };
  if (typeof config === 'string') return loadConfig({ file: config, env, overrides });
  return resolveConfig(config, { source: '(inline)', env, overrides, constants });
}

/** Rejects wrong options, all at once, for callers without a type checker. */
function rejectWrongOptions(options: unknown): asserts options is CreateNodeOptions {
  if (!isMapping(options)) throw wrong('options', `must be an object with config, got ${showSent(options)}`);
  const mistakes = optionMistakes(OPTIONS, options);
  if (mistakes !== null) throw wrong(mistakes.field, mistakes.reason);
}

/** Longest timer of Node.js, ms; longer ones end at once. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** Addresses as `--http` takes them (config/read/environment.ts). */
const ADDRESS = /^(unix:.+|(\[[^\]]+\]:|[^:]+:)?\d{1,5})$/;

const CONFIG = z.custom((given) => (typeof given === 'string' && given !== '') || isMapping(given));
const TELEMETRY = z.custom((given) => {
  const { log, decided = log, busyOnBackends = log } = (given ?? {}) as Mapping;
  return [log, decided, busyOnBackends].every((method) => typeof method === 'function');
});

const OPTIONS = z.strictObject({
  config: told(CONFIG, 'the path of a YAML file, or its contents as an object'),
  nodeId: told(z.string().regex(NODE_NAME.matches).optional(), NODE_NAME.text),
  env: told(z.custom<Mapping>(isMapping).superRefine(rejectWrongVariables).optional(), 'an object like process.env'),
  telemetry: told(
    TELEMETRY.optional(),
    'an object with a function log(level, message, facts), and decided(decision) and busyOnBackends(busy) if you like',
  ),
  http: told(
    z
      .string()
      .refine((given) => given === HANDLER || ADDRESS.test(given))
      .optional(),
    'an address like 127.0.0.1:7070 or unix:/path, or "handler"',
  ),
  readyTimeoutMs: told(
    z.number().min(0).max(TIMEOUT_MS_MAX).optional(),
    `a number of milliseconds from 0 to ${TIMEOUT_MS_MAX}`,
  ),
} satisfies Record<keyof Required<CreateNodeOptions>, z.ZodType>);

/** Rejects variables of ours with wrong values; other ones are not read. */
function rejectWrongVariables(env: Mapping, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('QUOTAMESH_') || value === undefined || typeof value === 'string') continue;
    // The type alone: the value may be a secret.
    const message = `must be a text, got ${value === null ? 'null' : `a value of type ${typeof value}`}`;
    context.addIssue({ code: 'custom', path: [name], message, params: {} });
  }
}

function wrong(field: string, reason: string): QuotameshError {
  return new QuotameshError('OPTIONS_INVALID', { of: 'createNode: ', field, reason });
}
