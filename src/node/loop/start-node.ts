import { randomInt } from 'node:crypto';
import { VERSION } from '../../base/package/version.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { type AssemblyOptions, assembleParts } from './assemble-node.js';
import { guarded } from './guarded-telemetry.js';
import type { NodeParts } from './node-parts.js';
import { openTopics } from './open-topics.js';

/** Starts a node and waits until it is ready; a node that does not become ready in time is closed. */
export async function startParts({ life, loop }: Pick<NodeParts, 'life' | 'loop'>, readyTimeoutMs = 30_000) {
  const started = life.start();
  // Without waiting a failed start shows in the node's status and log; nobody holds the promise.
  if (readyTimeoutMs === 0) started.catch(() => undefined);
  else {
    await Promise.all([started, loop.ready(readyTimeoutMs)]).catch(async (error: unknown) => {
      await life.close();
      throw error;
    });
  }
}

/** The parts of a node on the topics that a configuration asks for, wired but not started. */
export async function assembleNode(config: ResolvedConfig, telemetry: Telemetry): Promise<NodeParts> {
  return assembleParts(await assemblyOf(config, telemetry));
}

/** What a node of this program is put together from. */
export async function assemblyOf(config: ResolvedConfig, telemetry: Telemetry): Promise<AssemblyOptions> {
  const safe = guarded(telemetry);
  const topics = await openTopics(config, safe);
  return { config, ...topics, telemetry: safe, version: VERSION, nonce: randomInt(0x10000) };
}
