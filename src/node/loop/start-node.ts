import { randomInt } from 'node:crypto';
import { VERSION } from '../../base/package/version.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { type AssemblyOptions, assembleParts } from './assemble-node.js';
import { guarded } from './guarded-telemetry.js';
import type { NodeParts } from './node-parts.js';
import { openTopics } from './open-topics.js';

/** Starts a node and waits until it is ready; closes it if it is not in time. */
export async function startParts({ life, loop }: Pick<NodeParts, 'life' | 'loop'>, readyTimeoutMs = 30_000) {
  const started = life.start();
  if (readyTimeoutMs === 0) started.catch(() => undefined);
  else {
    await Promise.all([started, loop.ready(readyTimeoutMs)]).catch(async (error: unknown) => {
      await life.close();
      throw error;
    });
  }
}

export async function assembleNode(config: ResolvedConfig, telemetry: Telemetry): Promise<NodeParts> {
  return assembleParts(await assemblyOf(config, telemetry));
}

/** Returns the inputs of a node's assembly. */
export async function assemblyOf(config: ResolvedConfig, telemetry: Telemetry): Promise<AssemblyOptions> {
  const safe = guarded(telemetry);
  const topics = await openTopics(config, safe);
  return { config, ...topics, telemetry: safe, version: VERSION, nonce: randomInt(0x10000) };
}
