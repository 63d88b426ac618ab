import { parse } from 'yaml';
import { listen } from '../../../src/doors/http/server/http-server.js';
import { readyScene } from '../http/http-scene.js';

let nodes = 0;

/** Starts a node of this YAML in this process, ready and listening, until the test ends; returns its URL. */
export async function nodeInProcess(yaml: string, onTestFinished: (end: () => Promise<void>) => void): Promise<string> {
  const raw = parse(yaml) as { readonly cluster: string };
  // The memory topic of a cluster is the same for all nodes of a process.
  const { app, node, close } = await readyScene({ ...raw, cluster: `${raw.cluster}-${process.pid}-${nodes++}` });
  onTestFinished(close);
  return listen(app, node);
}
