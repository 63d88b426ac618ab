import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.js';

const SETTLED_MS = 20_000;

interface Read {
  readonly expectedCost: number;
  readonly debtMs: number;
}

export interface KillOutcome {
  /** Changes that were answered 2xx. */
  readonly answered: number;
  /** Laws that were broken; empty = none. */
  readonly broken: readonly string[];
}

/**
 * A node writes changes, one after the other, and is killed with kill -9 in between; then all nodes must have the last
 * change that was answered, or one behind it that was not, whole, and all the same one.
 *
 * @param ids of the nodes; the second one is killed
 */
export async function killWriter(cluster: Cluster, ids: readonly string[], kills: number): Promise<KillOutcome> {
  const [, victim = ''] = ids;
  const broken: string[] = [];
  let [next, answered] = [1, 0];
  for (let kill = 0; kill < kills; kill++) {
    const changes = (async () => {
      for (;;) {
        const n = next++;
        const status = await put(cluster.url(victim), n);
        if (status === null) return;
        if (status >= 300) broken.push(`change ${n}: ${status}`);
        else answered = n;
      }
    })();
    // Not in step with anything that the node does periodically.
    await sleep(100 + ((kill * 37) % 211));
    cluster.node(victim).child.signal('SIGKILL');
    await cluster.node(victim).child.ended;
    await changes;
    await (await cluster.spawn(victim)).ready();
    const found = await settled(cluster, ids);
    const [first] = found;
    if (new Set(found.map((each) => JSON.stringify(each))).size !== 1)
      broken.push(`kill ${kill}: ${JSON.stringify(found)}`);
    if (first === undefined || first.expectedCost < answered) broken.push(`kill ${kill}: ${answered} is lost`);
    if (first !== undefined && first.debtMs !== first.expectedCost) broken.push(`kill ${kill}: a part is missing`);
  }
  return { answered, broken };
}

/** What all nodes have, when that is the same; else what they have after a while. */
async function settled(cluster: Cluster, ids: readonly string[]): Promise<Read[]> {
  const deadline = performance.now() + SETTLED_MS;
  for (;;) {
    const found = await Promise.all(ids.map((id) => read(cluster.url(id))));
    const isSame = new Set(found.map((each) => JSON.stringify(each))).size === 1;
    if (isSame || performance.now() > deadline) return found;
    await sleep(20);
  }
}

/** Null when the node died before it answered. */
async function put(url: string, n: number): Promise<number | null> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ expectedCost: n, debtMs: n });
  try {
    const response = await fetch(`${url}/v1/groups/counted`, { method: 'PUT', headers, body });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

async function read(url: string): Promise<Read> {
  const response = await fetch(`${url}/v1/groups/counted/definition`);
  const { definition } = (await response.json()) as { readonly definition?: Read };
  return { expectedCost: definition?.expectedCost ?? 0, debtMs: definition?.debtMs ?? 0 };
}
