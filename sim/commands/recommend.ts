import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { parseQuantity } from '../../src/config/setting/quantity.js';
import { gatesOf } from '../../src/core/base/local-gate.js';
import { UNLIMITED } from '../../src/core/base/vocabulary.js';
import { usage } from '../../src/tools/terminal/print.js';
import { type Recording, readRecording } from '../../src/topic/recording/read-recording.js';
import { renderPage } from '../page/render-page.js';
import { type RecommendOptions, recommend } from '../recommend/recommend.js';
import { collectWork } from '../recommend/recorded-work.js';
import { workOfRecording } from '../recommend/work-of-recording.js';
import { chosenGroup } from '../replay/chosen-group.js';
import { readTrace } from '../replay/read-trace.js';
import { settingsOf } from '../replay/replay-recording.js';
import { KEYS_MAX, type TraceFound } from '../replay/trace.js';
import { rejectCsvFlags } from './arrival-options.js';
import { foundText } from './found-text.js';
import { type RecommendCommandOptions, recommendCommand } from './recommend-command.js';
import { recommendProgress } from './recommend-progress.js';
import { type Recommended, recommendationFacts, recommendationText } from './recommend-text.js';
import { percent, rate, whole } from './replay-figures.js';
import { openRecorded, writeHtml } from './replay-files.js';
import { wholeNumber, wrongFlag } from './replay-flags.js';
import { replayedGroup } from './replay-group.js';
import { traceOptions } from './replay-trace.js';
import { pageKeys } from './trace-tables.js';

/** `quotamesh recommend`: reads a recording, by its first bytes, or a CSV. */
export async function recommendQuota(options: RecommendCommandOptions): Promise<void> {
  const { from, of, json, html } = options;
  const wish = parseQuantity('ratio', options.refuseBelow);
  if (!(wish >= 0 && wish < 1))
    throw wrongFlag('--refuse-below', 'a part below 1 (e.g. 0.1% or 0.001)', options.refuseBelow);
  const { bytes, isRecording } = await openRecorded(from);
  const played = isRecording
    ? await ofRecording(await readRecording(bytes, from), options)
    : await ofTrace(bytes, options);
  const { work, group, settings, otherQuota, speed, maxRequestAt } = played;
  if (work.count === 0) throw usage(`${from} holds no work of ${group}`);
  const gates = gatesOf(settings.groups[0] ?? {});
  if (gates.length > 0) throw usage(`group ${group} has no bucket of the cluster, for ${gates.join(', ')}`);
  const progress = json === true ? null : recommendProgress(process.stderr.isTTY);
  const found = await recommend(work, {
    name: basename(from),
    of: of === 'messages' ? 0 : 1,
    otherQuota,
    wish,
    nodes: played.nodes,
    seed: wholeNumber('--seed', options.seed, 0, 2 ** 32 - 1),
    speed,
    settings,
    maxRequestAt,
    onPlay: (play) => progress?.played(play),
  }).finally(() => progress?.end());
  const top = wholeNumber('--top', options.top, 0, KEYS_MAX);
  const { per = null, direction } = options;
  const told: Recommended = { ...played, file: basename(from), per, top, of, wish, found, direction };
  if (html !== undefined) writeHtml(html, pageOf(told));
  process.stdout.write(json ? `${JSON.stringify(recommendationFacts(told))}\n` : recommendationText(told));
}

type Played = Pick<Recommended, 'work' | 'group' | 'kind' | 'note' | 'nodes' | 'speed'> &
  Pick<RecommendOptions, 'settings' | 'otherQuota' | 'maxRequestAt'>;

async function ofTrace(input: Readable, options: RecommendCommandOptions): Promise<Played> {
  const trace = traceOptions(options);
  const group = await replayedGroup(options);
  let note: readonly string[] = [];
  const onBegun = (found: TraceFound) => {
    note = foundText(found, trace);
  };
  const work = await collectWork(readTrace(input, options.from, trace, onBegun));
  const { name, kind, settings, maxRequestAt } = group;
  const otherQuota = group.quota[options.of === 'messages' ? 1 : 0];
  return { work, group: name, kind, note, settings, otherQuota, nodes: trace.nodes, speed: trace.speed, maxRequestAt };
}

/** Reads a recording by its settings; single requests are unknown, so none is too large. */
async function ofRecording(recording: Recording, options: RecommendCommandOptions): Promise<Played> {
  const { group: wanted, direction, of } = options;
  rejectCsvFlags(recommendCommand(), options, options.from);
  const { header, group: at } = await chosenGroup(recording, wanted);
  const { nodeId: _, nonce: _ofThisProcess, ...settings } = settingsOf(header, header.groups[at].strategy);
  const group = settings.groups[at];
  const work = await collectWork(workOfRecording(recording, { group: wanted, direction }));
  // The simulated clusters publish.
  const played = { ...group, cost: { publish: group.cost[direction], dispatch: group.cost[direction] } };
  return {
    work,
    group: group.name,
    kind: recording.header.groups.some(({ name }) => name === group.name) ? 'group' : 'key',
    note: [],
    settings: { ...settings, partitions: 1, groups: [played] },
    otherQuota: group.quota[direction][of === 'messages' ? 1 : 0],
    nodes: work.nodes,
    speed: 1,
    maxRequestAt: () => UNLIMITED,
  };
}

function pageOf({ found, of, per, top, wish }: Recommended): string {
  const { strategies, best, frontier } = found;
  const runs = strategies.map(({ run }) => run);
  const wished = `at most ${percent(wish)} refused: ${rate(best.perSecond)} ${of}/s with a burst of ${whole(best.depth)}`;
  const note = `Recommended for ${wished}${per === null ? '' : `, for each ${per}`}. All strategies at that quota:`;
  return renderPage(runs, note, null, {
    keys: pageKeys(runs, { per, top }),
    frontier: { of, points: frontier, bestDepth: best.depth },
  });
}
