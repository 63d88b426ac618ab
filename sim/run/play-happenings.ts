import type { ClusterUnderTest, DeliveryFaults, Ways } from '../cluster/cluster-under-test.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { Happening, QuotaRates, Scenario } from '../scenario/scenario.js';
import type { Presence } from './presence.js';

/** Targets of a happening. */
export interface Stage {
  readonly scenario: Scenario;
  readonly queue: Pick<EventQueue, 'nowMs' | 'at' | 'after'>;
  readonly cluster: ClusterUnderTest;
  readonly presence: Presence;
  readonly setQuota: (quota: QuotaRates) => void;
  /** Reports happenings, and those without a model. */
  readonly tell: (text: string) => void;
}

/** Starts nodes, and lets everything happen in time. */
export function playHappenings(stage: Stage): void {
  const { scenario, queue } = stage;
  const late = new Set<string>();
  for (const { what, nodes } of scenario.happenings) if (what === 'start') for (const node of nodes) late.add(node);
  const skewed = scenario.happenings.filter(({ what, atMs }) => what === 'clockSkew' && atMs === 0);
  for (const happening of skewed) play(stage, happening);
  for (const node of scenario.nodes) if (!late.has(node)) start(stage, node);
  for (const happening of scenario.happenings) {
    if (!skewed.includes(happening)) queue.at(happening.atMs, () => play(stage, happening));
  }
}

function play(stage: Stage, happening: Happening): void {
  const { what, nodes, values } = happening;
  const lasts = typeof values.forSeconds === 'number' ? ` for ${values.forSeconds} s` : '';
  stage.tell(`${[what, ...shortened(nodes, stage.scenario.nodes.length)].join(' ')}${detailOf(happening)}${lasts}`);
  PLAYS[what](stage, happening);
}

export const NOT_PLAYED = '… not played:';

type Play = (stage: Stage, happening: Happening) => void;

const PLAYS: Readonly<Record<string, Play>> = {
  start: (stage, { nodes }) => {
    for (const node of nodes) start(stage, node);
  },
  crash: (stage, happening) => end(stage, happening, (node) => stage.cluster.crash(node)),
  leave: (stage, happening) => end(stage, happening, (node) => stage.cluster.leave(node)),
  stall: (stage, happening) => {
    const { cluster, presence, queue } = stage;
    const untilMs = queue.nowMs + lastsMs(happening);
    presence.faults.push({ fromMs: queue.nowMs, untilMs });
    for (const node of happening.nodes) {
      cluster.stall(node, lastsMs(happening));
      presence.stalls(indexOf(stage, node), untilMs);
    }
    queue.at(untilMs, () => {
      presence.isMoved = true;
    });
  },
  cut: (stage, happening) => cutOff(stage, happening, { readsCut: true, appendsCut: true }),
  partition: (stage, happening) => cutOff(stage, happening, { readsCut: true, appendsCut: true }),
  oneWay: (stage, happening) => {
    const readsCut = happening.values.way === 'reads';
    cutOff(stage, happening, { readsCut, appendsCut: !readsCut });
  },
  outage: (stage, happening) => {
    lastingFault(stage, happening);
    stage.cluster.setOutage(true);
    stage.queue.after(lastsMs(happening), () => stage.cluster.setOutage(false));
  },
  faults: (stage, { values }) => {
    stage.cluster.setFaults(values as unknown as DeliveryFaults);
    afterwards(stage, values, () => stage.cluster.setFaults(stage.scenario.faults));
  },
  quota: (stage, { values }) => stage.setQuota(values as unknown as QuotaRates),
  // Drawn in the arrivals already (load/arrival-streams.ts).
  rate: () => undefined,
  clockJump: ({ cluster, tell }, { values }) => {
    if (cluster.jumpClock === undefined) tell(`${NOT_PLAYED} the model of ${cluster.name} has no such clock`);
    else cluster.jumpClock(1000 * (values.bySeconds as number));
  },
  clockSkew: ({ cluster, tell }, { nodes, values }) => {
    const clock = { offsetMs: 1000 * (values.bySeconds as number), driftRatio: values.driftRatio as number };
    if (cluster.setClock === undefined) tell(`${NOT_PLAYED} the model of ${cluster.name} has no clocks of nodes`);
    else for (const node of nodes) cluster.setClock(node, clock);
  },
  lie: (stage, { nodes, values }) => {
    const { cluster, tell } = stage;
    if (cluster.setLie === undefined) {
      tell(`${NOT_PLAYED} the model of ${cluster.name} has no lies`);
      return;
    }
    for (const node of nodes) cluster.setLie(node, values.factor as number);
    afterwards(stage, values, () => {
      for (const node of nodes) cluster.setLie?.(node, 1);
    });
  },
};

function start(stage: Stage, node: string): void {
  stage.cluster.start(node);
  stage.presence.runs(indexOf(stage, node), true);
}

function end(stage: Stage, { nodes, values }: Happening, how: (node: string) => void): void {
  for (const node of nodes) {
    how(node);
    stage.presence.runs(indexOf(stage, node), false);
  }
  afterwards(stage, values, () => {
    for (const node of nodes) start(stage, node);
    stage.tell(`start ${nodes.join(' ')} again`);
  });
}

function cutOff(stage: Stage, happening: Happening, ways: Ways): void {
  lastingFault(stage, happening);
  for (const node of happening.nodes) stage.cluster.cutOff(node, ways);
  stage.queue.after(lastsMs(happening), () => {
    for (const node of happening.nodes) stage.cluster.cutOff(node, { readsCut: false, appendsCut: false });
  });
}

function lastingFault({ presence, queue }: Stage, happening: Happening): void {
  presence.faults.push({ fromMs: queue.nowMs, untilMs: queue.nowMs + lastsMs(happening) });
}

function afterwards({ queue }: Stage, { forSeconds }: Happening['values'], then: () => void): void {
  if (typeof forSeconds === 'number') queue.after(forSeconds * 1000, then);
}

function lastsMs({ values }: Happening): number {
  return (values.forSeconds as number) * 1000;
}

function indexOf({ scenario }: Stage, node: string): number {
  return scenario.nodes.indexOf(node);
}

function shortened(nodes: readonly string[], count: number): readonly string[] {
  if (nodes.length === count && count > 1) return ['all'];
  return nodes.length > 5 ? [`${nodes[0]} … ${nodes.at(-1)}`] : nodes;
}

function detailOf({ values }: Happening): string {
  const details = Object.entries(values).flatMap(([key, value]) => {
    if (['nodes', 'atSeconds', 'forSeconds', 'everySeconds'].includes(key) || value === null || value === 0) return [];
    return [`${key} ${String(value)}`];
  });
  return details.length === 0 ? '' : ` (${details.join(', ')})`;
}
