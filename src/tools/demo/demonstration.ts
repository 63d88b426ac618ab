import { constants } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { EXIT_OK, EXIT_UNEXPECTED } from '../../base/errors/error-row.js';
import { loadConfig } from '../../config/files/load-config.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { Rates } from '../../core/base/vocabulary.js';
import { loadLmdb } from '../../topic/embedded/load-lmdb.js';
import { change } from '../node-client/node-requests.js';
import { portsFor } from '../processes/free-ports.js';
import type { NodeProcess } from '../processes/node-process.js';
import { describeError } from '../terminal/exit.js';
import { textTable } from '../terminal/text-table.js';
import type { DemoOptions } from './command.js';
import type { ClientTally, Measurement } from './measure/meter.js';
import { type Criterion, judge } from './measure/verdict.js';
import { Cluster } from './processes/cluster.js';
import { DEMO_CONFIG_FILE, STORY_CONFIG_FILE, StateFolder, TRACE_FILE } from './processes/state-folder.js';
import { TrafficProcess, type TrafficProgress } from './processes/traffic-process.js';
import { type Act, actsFor, type Happening, STORY_QUOTA, VICTIM } from './story/acts.js';
import type { ActTallies } from './story/story-traffic.js';
import { CLIENT_PATIENCE_MS } from './traffic/node-clients.js';
import { actEnding, actHeading, storyEnding } from './view/act-text.js';
import { createView, kilobytes, type NodeRow, percent, type View, withCommas } from './view/view.js';

/** Milliseconds for a measurement under way: Ctrl-C takes two seconds. */
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
function hintsFor(nodes: readonly NodeProcess[], folder: StateFolder, group: string): string[] {
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

const SECOND_MS = 1000;

/** Turns counters since the start into the last second's. */
export class RecentSecond {
  #history: TrafficProgress[] = [];

  add(progress: TrafficProgress): void {
    this.#history.push(progress);
    // The second begins at the newest one that is a second old.
    while (this.#history.length > 2 && progress.atMs - this.#history[1].atMs >= SECOND_MS) this.#history.shift();
  }

  /** Returns a row per node, without what only the node knows. */
  rows(): Omit<NodeRow, 'id' | 'state'>[] {
    return this.#pairs().map(({ now, before, perSecond }) => ({
      demand: (now.arrived[0] - before.admitted[0] - before.gaveUp[0]) * perSecond,
      admitted: (now.admitted[0] - before.admitted[0]) * perSecond,
      gaveUp: (now.gaveUp[0] - before.gaveUp[0]) * perSecond,
      waiting: now.arrived[0] - now.admitted[0] - now.gaveUp[0],
    }));
  }

  admitted(): Rates {
    return this.#pairs().reduce<Rates>(
      ([messages, bytes], { now, before, perSecond }) => [
        messages + (now.admitted[0] - before.admitted[0]) * perSecond,
        bytes + (now.admitted[1] - before.admitted[1]) * perSecond,
      ],
      [0, 0],
    );
  }

  #pairs(): { now: ClientTally; before: ClientTally; perSecond: number }[] {
    const last = this.#history[this.#history.length - 1];
    const first = this.#history[0];
    if (last === undefined || last === first) return [];
    const perSecond = SECOND_MS / (last.atMs - first.atMs);
    return last.nodes.map((now, at) => ({ now, before: first.nodes[at], perSecond }));
  }
}

/** Writes the end: three deciding promises, figures, and their method; no verdict if interrupted. */
export function verdictLines(measurement: Measurement, isInterrupted = false): string[] {
  const criteria = judge(measurement);
  const rows = [...criteria.map(criterionRow), ...informationRows(measurement)];
  return [
    `after ${measurement.seconds.toFixed(1)} s of traffic`,
    ...textTable(['', 'measured by the clients', 'value', 'promise', ''], rows, ['value', 'promise']),
    isInterrupted ? 'Interrupted: no verdict.' : verdictOf(criteria),
    ...(measurement.acquireP99Ms > BUSY_P99_MS ? [BUSY] : []),
    ...LEGEND,
  ];
}

function verdictOf(criteria: readonly Criterion[]): string {
  const kept = criteria.every((criterion) => criterion.kept);
  const verdict = kept ? 'All three promises kept.' : 'NOT all promises kept.';
  return styleText('bold', styleText(kept ? 'green' : 'red', verdict));
}

const BUSY_P99_MS = 50;
const BUSY =
  'Acquires were slow: other work kept this machine busy, and these figures tell of that rather than of the quota.';

const LEGEND = [
  'demand: arrivals + what waits, in steps of 100 ms; of messages and bytes the one nearer its quota counts, in demand',
  'and in what was admitted. Windows slide by 1 ms. Every second counts, the first one too.',
];

function criterionRow({ name, measured, bound, sense, kept }: Criterion): string[] {
  const sign = sense === 'at least' ? '≥' : '≤';
  const ratio = name.includes('÷');
  const show = (value: number) => (ratio ? value.toFixed(2) : percent(value));
  return [kept ? '✓' : '✗', name, show(measured), `${sign} ${show(bound)}`, ''];
}

function informationRows(measurement: Measurement): string[][] {
  const { nodes, acquireP50Ms, acquireP99Ms } = measurement;
  const total = (key: 'admitted' | 'gaveUp') => withCommas(nodes.reduce((sum, tally) => sum + tally[key][0], 0));
  return [
    ['', 'seconds whose arrivals alone exceed the quota', percent(measurement.secondsAboveQuota)],
    ['', 'seconds in which bytes were the tighter quota', percent(measurement.secondsBytesTighter)],
    ['', "Jain's index against max-min fairness", measurement.jain.toFixed(3)],
    ['', 'POST /v1/acquire, p50 / p99', `${acquireP50Ms.toFixed(1)} / ${acquireP99Ms.toFixed(1)} ms`],
    [
      '',
      `messages admitted / refused after ${CLIENT_PATIENCE_MS / 1000} s`,
      `${total('admitted')} / ${total('gaveUp')}`,
    ],
  ].map((row) => [...row, '', '']);
}

interface StoryParts {
  readonly cluster: Cluster;
  readonly traffic: TrafficProcess;
  readonly view: View;
  readonly ending: DemoEnding;
  readonly group: string;
  /** Called for a restarted node, to watch its end. */
  readonly onStarted: (node: number) => void;
  readonly onQuota: (messagesPerSecond: number) => void;
}

class StoryTeller {
  readonly #parts: StoryParts;
  readonly #told: (readonly [Act, ActTallies])[] = [];
  #title: string | null = null;

  constructor(parts: StoryParts) {
    this.#parts = parts;
  }

  get title(): string | null {
    return this.#title;
  }

  /** True = every finished act was good. */
  get isGood(): boolean {
    return this.#told.every(([{ figure }, { ours, central }]) => figure.isGood(ours, central));
  }

  /** Plays all acts; resolves after the last. */
  async tell(): Promise<void> {
    const { view, cluster, ending } = this.#parts;
    const acts = actsFor(cluster.nodes.length);
    const beganMs = performance.now();
    for (const [at, act] of acts.entries()) {
      this.#title = `Act ${at + 1} of ${acts.length}: ${act.title}`;
      view.tell(actHeading(act, at + 1, acts.length));
      const [tallies] = await Promise.all([this.#parts.traffic.act(act.stretches), this.#happen(act.happening)]);
      if (ending.reason !== null) return;
      this.#told.push([act, tallies]);
      view.tell(actEnding(act, tallies));
    }
    view.tell(storyEnding(this.#told, (performance.now() - beganMs) / 1000));
  }

  /** Keeps moving demand for those who look, until something ends it. */
  async goOn(): Promise<void> {
    const { cluster, ending, traffic, view } = this.#parts;
    this.#title = 'Demand goes on moving';
    view.tell(['The nodes go on, and demand moves from one to the other, until Ctrl-C.']);
    await this.#setQuota(STORY_QUOTA);
    const [, , moving] = actsFor(cluster.nodes.length);
    while (ending.reason === null) await traffic.act(moving?.stretches ?? []);
  }

  async #happen(happening: Happening | null): Promise<void> {
    if (happening === null) return;
    await sleep(happening.atMs, undefined, { ref: false });
    const { cluster, view } = this.#parts;
    if (this.#parts.ending.reason !== null) return;
    if (happening.kind === 'kill') {
      cluster.nodes[VICTIM]?.child.signal('SIGKILL');
      view.tell(['  now: node B is killed.']);
    } else if (happening.kind === 'start') await this.#startAgain();
    else {
      await this.#setQuota(STORY_QUOTA / 2);
      view.tell([`  now: the quota is ${STORY_QUOTA / 2} per second.`]);
    }
  }

  async #startAgain(): Promise<void> {
    const { cluster, traffic, view, onStarted } = this.#parts;
    if (cluster.nodes[VICTIM]?.child.isRunning === true) return;
    const beganMs = performance.now();
    const started = cluster.startAgain(VICTIM);
    onStarted(VICTIM);
    await started;
    traffic.nodeBack(VICTIM);
    view.tell([`  now: node B is ready, ${((performance.now() - beganMs) / 1000).toFixed(1)} s after it was started.`]);
  }

  /** Changes the quota by one call to one node. */
  async #setQuota(messagesPerSecond: number): Promise<void> {
    const { cluster, traffic, group, onQuota } = this.#parts;
    const node = cluster.nodes.find(({ child }) => child.isRunning);
    if (node === undefined) return;
    const asked = { url: new URL(node.url), token: null, tls: {} };
    const body = { quota: { publish: { messagesPerSecond } } };
    await change(asked, { method: 'PATCH', path: `v1/groups/${group}`, body });
    traffic.setQuota(messagesPerSecond);
    onQuota(messagesPerSecond);
  }
}

/** Reasons for the demonstration's end. */
type DemoEndReason =
  | { readonly kind: 'time-over' }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'failed'; readonly why: string };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Milliseconds; an earlier second signal is the same Ctrl-C, from terminal and npm. */
const SAME_SIGNAL_MS = 1000;

/** Keeps the first reason to end; a later signal means that leaving takes too long. */
export class DemoEnding {
  readonly reached: Promise<DemoEndReason>;
  reason: DemoEndReason | null = null;
  readonly #onImpatience: () => void;
  readonly #onSignal = (signal: NodeJS.Signals) => this.#signalled(signal);
  #resolve: (reason: DemoEndReason) => void = () => undefined;
  #reachedMs = 0;

  constructor(onImpatience: () => void) {
    this.#onImpatience = onImpatience;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  reach(reason: DemoEndReason): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.#reachedMs = performance.now();
    this.#resolve(reason);
  }

  forget(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  #signalled(signal: NodeJS.Signals): void {
    if (this.reason === null) this.reach({ kind: 'signal', signal });
    else if (performance.now() - this.#reachedMs > SAME_SIGNAL_MS) this.#onImpatience();
  }
}

/** Returns the exit code: Ctrl-C is no failure without an end, and one before a due verdict. */
export function demoExitCode(
  reason: DemoEndReason,
  options: { readonly endless: boolean; readonly kept: boolean },
): number {
  switch (reason.kind) {
    case 'time-over':
      return options.kept ? EXIT_OK : EXIT_UNEXPECTED;
    case 'signal':
      return options.endless ? EXIT_OK : 128 + constants.signals[reason.signal];
    case 'failed':
      return EXIT_UNEXPECTED;
  }
}
