import { z } from 'zod';
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
import { assembleNode, startParts } from '../../node/loop/start-node.js';
import { type CreateNodeOptions, HANDLER } from './create-node.js';

export async function startWithOptions(options: CreateNodeOptions): Promise<QuotaNode> {
  rejectWrongOptions(options);
  const parts = await assembleNode(await configOf(options), options.telemetry ?? silentTelemetry);
  if (options.http === undefined) {
    await startParts(parts, options.readyTimeoutMs);
    return new EmbeddedNode(parts, null);
  }
  // Fastify takes 50 ms to load, which nodes without HTTP save.
  const { openEmbeddedHttp } = await import('./embedded-http.js');
  const http = await openEmbeddedHttp(parts, options.http === HANDLER).catch(async (error: unknown) => {
    await parts.life.close();
    throw error;
  });
  await startParts(parts, options.readyTimeoutMs).catch(async (error: unknown) => {
    await http.close();
    throw error;
  });
  return new EmbeddedNode(parts, http);
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
