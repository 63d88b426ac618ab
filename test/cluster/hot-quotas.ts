import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from './cluster.js';
import type { Answered } from './traffic.js';

/** A quota of the cluster, in force at a node since then; epoch milliseconds. */
export interface QuotaStep {
  readonly sinceMs: number;
  readonly messagesPerSecond: number;
}

/** Writes another quota into the YAML of all nodes, as an editor that saves does: a new file over the old one. */
export async function rewriteQuota(cluster: Cluster, ids: readonly string[], messagesPerSecond: number): Promise<void> {
  for (const id of ids) {
    const file = join(cluster.folder, `${id}.yaml`);
    const config = JSON.parse(await readFile(file, 'utf8'));
    config.groups.orders.quota.publish = { messagesPerSecond };
    await writeFile(`${file}.new`, JSON.stringify(config, null, 2));
    await rename(`${file}.new`, file);
  }
}

/** When a node took a configuration, as its log says. */
export function takenMs(cluster: Cluster, id: string): number[] {
  const lines = cluster.node(id).child.output.split('\n');
  return lines
    .filter((line) => line.includes('"configuration taken"') && line.endsWith('}'))
    .map((line) => Date.parse(String(JSON.parse(line).time)));
}

export interface WorstWindows {
  /** Admitted ÷ what the largest quota in force at any node allows. */
  readonly most: number;
  /** Admitted ÷ what the smallest allows of that which reached the nodes. */
  readonly least: number;
  readonly windows: number;
}

/**
 * Over every window of the length that lies within the span, in steps of 50 ms. While one node has the new quota and
 * another not yet, both quotas are in force: the larger one bounds from above, the smaller one from below. So it is with
 * grants: one was made between its request and its answer, and where a window begins or ends in between, either may be.
 */
export function worstSpans(
  answered: readonly Answered[],
  perNode: readonly (readonly QuotaStep[])[],
  { fromMs, toMs, lengthMs }: { readonly fromMs: number; readonly toMs: number; readonly lengthMs: number },
): WorstWindows {
  const grants = answered.filter(({ granted }) => granted);
  const decided = answered.filter((answer) => answer.decided);
  let [most, least, windows] = [0, Infinity, 0];
  for (let startMs = fromMs; startMs + lengthMs <= toMs; startMs += STEP_MS) {
    const endMs = startMs + lengthMs;
    const certain = grants.filter(({ sentMs, atMs }) => sentMs >= startMs && atMs < endMs).length;
    const possible = grants.filter(({ sentMs, atMs }) => atMs >= startMs && sentMs < endMs).length;
    most = Math.max(most, certain / allowed(perNode, startMs, endMs, Math.max));
    least = Math.min(least, possible / carriable(perNode, startMs, endMs, decided));
    windows++;
  }
  return { most, least, windows };
}

const STEP_MS = 50;
const INTEGRATED_MS = 5;
const CARRIED_MS = 100;

/** ∫ min(smallest quota, what was decided) dt, in steps of 100 ms: what no node was asked for is no loss. */
function carriable(
  perNode: readonly (readonly QuotaStep[])[],
  startMs: number,
  endMs: number,
  decided: readonly Answered[],
): number {
  let total = 0;
  for (let stepMs = startMs; stepMs < endMs; stepMs += CARRIED_MS) {
    const toMs = stepMs + CARRIED_MS;
    const reached = decided.filter(({ atMs }) => atMs >= stepMs && atMs < toMs).length;
    total += Math.min(allowed(perNode, stepMs, toMs, Math.min), reached);
  }
  return total;
}

function allowed(
  perNode: readonly (readonly QuotaStep[])[],
  startMs: number,
  endMs: number,
  pick: (...quotas: number[]) => number,
): number {
  let total = 0;
  for (let atMs = startMs; atMs < endMs; atMs += INTEGRATED_MS) {
    const quotas = perNode.map((steps) => steps.findLast(({ sinceMs }) => sinceMs <= atMs)?.messagesPerSecond ?? 0);
    total += (pick(...quotas) * INTEGRATED_MS) / 1000;
  }
  return total;
}
