import { basename } from 'node:path';
import { loadConfig } from '../../config/files/load-config.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { Rates } from '../../core/base/vocabulary.js';
import { loadLmdb } from '../../topic/embedded/load-lmdb.js';
import { portsFor } from '../processes/free-ports.js';
import type { NodeProcess } from '../processes/node-process.js';
import { describeError } from '../terminal/exit.js';
import type { DemoOptions } from './command.js';
import { DemoEnding, type DemoEndReason, demoExitCode } from './ending.js';
import { judge } from './measure/verdict.js';
import { Cluster } from './processes/cluster.js';
import { DEMO_CONFIG_FILE, STORY_CONFIG_FILE, StateFolder, TRACE_FILE } from './processes/state-folder.js';
import { TrafficProcess, type TrafficProgress } from './processes/traffic-process.js';
import { type StoryParts, StoryTeller } from './story-teller.js';
import { kilobytes, withCommas } from './view/figures.js';
import { RecentSecond } from './view/recent-second.js';
import { verdictLines } from './view/verdict-table.js';
import { createView, type View } from './view/view.js';

/** Milliseconds for a measurement under way, of the two seconds that Ctrl-C takes. */
const MEASUREMENT_TIMEOUT_MS = 300;
const TRAFFIC_STOP_PATIENCE_MS = 500;

/** Runs `npm start` until time or somebody ends it; returns the exit code. */
export async function runDemonstration(options: DemoOptions): Promise<number> {
  const { kafka = null } = options;
  // Once here: each node would log it.
  if (kafka === null) await loadLmdb();
  const configFile = tellsStory(options) ? STORY_CONFIG_FILE : DEMO_CONFIG_FILE;
  const demonstration = new Demonstration(options, await StateFolder.create(configFile, kafka));
  try {
    return await demonstration.run();
  } finally {
    await demonstration.leave();
  }
}

/** Tests for the story; one node has nothing to share. */
function tellsStory({ for: forMs, story, nodes }: DemoOptions): boolean {
  return forMs === undefined && story && nodes > 1;
}

class Demonstration {
  readonly #options: DemoOptions;
  readonly #folder: StateFolder;
  readonly #ending = new DemoEnding(() => this.#killAll());
  readonly #recent = new RecentSecond();
  #quotaPerSecond: Rates = [0, 0];
  #cluster: Cluster | undefined;
  #traffic: TrafficProcess | undefined;
  #view: View | undefined;
  #teller: StoryTeller | undefined;

  constructor(options: DemoOptions, folder: StateFolder) {
    this.#options = options;
    this.#folder = folder;
  }

  async run(): Promise<number> {
    const config = await loadConfig({ file: this.#folder.configFile });
    const group = config.groups[0];
    const cluster = await this.#startCluster();
    const interrupted = await Promise.race([cluster.ready(), this.#ending.reached]);
    if (interrupted) return this.#exitCode(interrupted, false);
    this.#startTraffic(cluster, group);
    return this.#conclude(await this.#ending.reached);
  }

  /** Leaves nothing behind: no process, socket, lock or folder. */
  async leave(): Promise<void> {
    const [failed] = await Promise.all([
      this.#cluster?.stop() ?? [],
      this.#traffic?.child.stop(TRAFFIC_STOP_PATIENCE_MS),
    ]);
    if (failed.length > 0) say(`did not leave in order: node ${failed.join(', ')}`);
    if (this.#options.keep === true) say(`configuration, topic and logs are in ${this.#folder.path}`);
    else await this.#folder.remove();
  }

  async #startCluster(): Promise<Cluster> {
    const { nodes, httpPort } = this.#options;
    const ports = await portsFor(nodes, httpPort);
    if (ports[0] !== httpPort)
      say(`port ${httpPort} or one after it is taken: the nodes listen on ${ports.join(', ')}`);
    say(`starting ${nodes} node processes …`);
    this.#cluster = new Cluster(ports, this.#folder);
    return this.#cluster;
  }

  /** Starts the traffic once all nodes are ready; measures from here on. */
  #startTraffic(cluster: Cluster, { name, quota }: GroupConfig): void {
    const { speed, plain } = this.#options;
    const nodeUrls = cluster.nodes.map(({ url }) => url);
    this.#quotaPerSecond = quota.publish;
    const view = createView(this.#introduction(cluster, name), plain === true);
    const traffic = new TrafficProcess(this.#folder.logFile('traffic'), (progress) => this.#show(cluster, progress));
    const trace = tellsStory(this.#options) ? null : { file: TRACE_FILE, speed };
    this.#view = view;
    this.#traffic = traffic;
    traffic.begin({ trace, group: name, quotaPerSecond: quota.publish, nodeUrls });
    this.#watchEnds(cluster, traffic);
    if (trace === null) void this.#tellStory({ cluster, traffic, view, group: name });
  }

  async #tellStory(parts: Pick<StoryParts, 'cluster' | 'traffic' | 'view' | 'group'>): Promise<void> {
    const teller = new StoryTeller({
      ...parts,
      ending: this.#ending,
      onStarted: (node) => this.#watchNode(node, parts.cluster, parts.traffic),
      onQuota: (messagesPerSecond) => {
        this.#quotaPerSecond = [messagesPerSecond, this.#quotaPerSecond[1]];
      },
    });
    this.#teller = teller;
    try {
      await teller.tell();
      // Nobody looks at a pipe for long; the exit code says how it was.
      if (process.stdout.isTTY === true) await teller.goOn();
      else this.#ending.reach({ kind: 'time-over' });
    } catch (error) {
      this.#fail(describeError(error));
    }
  }

  #introduction(cluster: Cluster, group: string) {
    const [messages, bytes] = this.#quotaPerSecond;
    const quota = `${withCommas(messages)} messages/s${Number.isFinite(bytes) ? ` and ${kilobytes(bytes)}/s` : ''}`;
    const traffic = tellsStory(this.#options)
      ? 'in six acts'
      : `under ${basename(TRACE_FILE)} at ${this.#options.speed}×`;
    return {
      headline: `${cluster.nodes.length} nodes, one quota of ${quota}, ${traffic}`,
      forMs: this.#options.for ?? null,
      hints: hintsFor(cluster.nodes, this.#folder, group),
    };
  }

  /** Shows an ended node as dead; ends without traffic, or without nodes. */
  #watchEnds(cluster: Cluster, traffic: TrafficProcess): void {
    void traffic.child.ended.then(() => this.#fail(`the traffic process ended:\n${traffic.child.logEnd()}`));
    for (const at of cluster.nodes.keys()) this.#watchNode(at, cluster, traffic);
  }

  #watchNode(at: number, cluster: Cluster, traffic: TrafficProcess): void {
    void cluster.nodes[at].child.ended.then(() => {
      traffic.nodeGone(at);
      if (cluster.nodes.every((node) => !node.child.isRunning)) this.#fail('all nodes have ended');
    });
  }

  #show(cluster: Cluster, progress: TrafficProgress): void {
    const { for: forMs } = this.#options;
    if (this.#ending.reason !== null) return;
    if (forMs !== undefined && progress.atMs >= forMs) this.#ending.reach({ kind: 'time-over' });
    this.#recent.add(progress);
    const rows = this.#recent.rows().map((row, at) => {
      return { ...row, id: cluster.nodes[at].id, state: cluster.stateOf(at) };
    });
    this.#view?.show({
      elapsedMs: progress.atMs,
      rows,
      quota: this.#quotaPerSecond,
      admitted: this.#recent.admitted(),
      act: this.#teller?.title ?? null,
    });
  }

  async #conclude(reason: DemoEndReason): Promise<number> {
    this.#view?.end();
    if (reason.kind === 'failed') say(reason.why);
    const measurement = (await this.#traffic?.finish(MEASUREMENT_TIMEOUT_MS)) ?? null;
    if (this.#teller !== undefined) return this.#exitCode(reason, this.#teller.isGood);
    if (measurement === null) return this.#exitCode(reason, false);
    const isInterrupted = reason.kind === 'signal' && this.#options.for !== undefined;
    process.stdout.write(`\n${verdictLines(measurement, isInterrupted).join('\n')}\n`);
    return this.#exitCode(
      reason,
      judge(measurement).every(({ kept }) => kept),
    );
  }

  #exitCode(reason: DemoEndReason, kept: boolean): number {
    return demoExitCode(reason, { endless: this.#options.for === undefined, kept });
  }

  #fail(why: string): void {
    this.#ending.reach({ kind: 'failed', why });
  }

  #killAll(): void {
    this.#traffic?.child.signal('SIGKILL');
    for (const { child } of this.#cluster?.nodes ?? []) child.signal('SIGKILL');
  }
}

function say(line: string): void {
  process.stderr.write(`quotamesh: ${line}\n`);
}

/** Writes commands for another terminal, in this project's folder. */
export function hintsFor(nodes: readonly NodeProcess[], folder: StateFolder, group: string): string[] {
  const [first] = nodes;
  const victim = nodes[1] ?? first;
  const newcomer = String.fromCharCode('A'.charCodeAt(0) + nodes.length);
  const body = JSON.stringify({ group, messages: 1, bytes: 2000 });
  return [
    `nodes      ${nodes.map(({ id, url, child }) => `${id} ${url} (pid ${child.pid})`).join('  ')}`,
    `page       ${first.url}/    # in a browser: the cluster as node ${first.id} sees it`,
    `look       npx quotamesh status --url ${first.url} --watch`,
    `ask        curl -s ${first.url}/v1/acquire -H 'content-type: application/json' -d '${body}'`,
    `kill       kill -9 ${victim.child.pid}    # node ${victim.id}; the others have its share when its silence is long enough`,
    `join       npx quotamesh run --config ${folder.configFile} --node ${newcomer} --http 127.0.0.1:0`,
    `logs       ${folder.path}`,
    'Ctrl-C ends it.',
  ];
}
