import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { WorldSettings } from '../../../sim/cluster/world.js';
import { renderPage } from '../../../sim/page/render-page.js';
import { type Recommendation, recommend } from '../../../sim/recommend/recommend.js';
import { collectWork, type RecordedWork } from '../../../sim/recommend/recorded-work.js';
import { workOfRecording } from '../../../sim/recommend/work-of-recording.js';
import { readTrace } from '../../../sim/replay/read-trace.js';
import { groupIndex, settingsOf } from '../../../sim/replay/replay-recording.js';
import { parseQuantity } from '../../config/setting/quantity.js';
import type { GroupSettings } from '../../core/base/settings.js';
import { type Rates, UNLIMITED } from '../../core/base/vocabulary.js';
import { type Recording, readRecording } from '../../recording/read-recording.js';
import { MAGIC } from '../../recording/recording-format.js';
import type { RecommendCommandOptions } from './recommend-command.js';
import { type Recommended, recommendationFacts, recommendationText } from './recommend-text.js';
import { firstBytes } from './replay.js';
import { cannotRead, openFile, writeHtml } from './replay-files.js';
import { wholeNumber, wrongFlag, wrongUse } from './replay-flags.js';
import { replayedGroup } from './replay-group.js';
import { traceOptions } from './replay-trace.js';

/** `quotamesh recommend`: a recording by its first bytes, anything else as CSV. */
export async function recommendQuota(options: RecommendCommandOptions): Promise<void> {
  const { from, of, json, html } = options;
  const wish = parseQuantity('ratio', options.refuseBelow);
  if (!(wish >= 0 && wish < 1))
    throw wrongFlag('--refuse-below', 'a part below 1 (e.g. 0.1% or 0.001)', options.refuseBelow);
  const input = from === '-' ? process.stdin : openFile(from);
  const head = await firstBytes(input, MAGIC.length).catch((error: Error) => cannotRead(from, error));
  const played = head.equals(MAGIC)
    ? await ofRecording(await readRecording(input, from), options)
    : await ofTrace(input, options);
  const { work, group, settings, otherQuota, speed, maxRequestAt } = played;
  if (work.count === 0) throw wrongUse(`${from} holds no work of ${group}`);
  if (settings.groups[0]?.sharing !== 'tokens') {
    throw wrongUse(`group ${group} shares rates, and a burst of the cluster is for groups that share tokens`);
  }
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
    onPlay: progressOf(json === true),
  });
  const told: Recommended = {
    file: basename(from),
    group,
    of,
    wish,
    work,
    nodes: played.nodes,
    speed,
    found,
    direction: options.direction,
  };
  if (html !== undefined) writeHtml(html, pageOf(found));
  process.stdout.write(json ? `${JSON.stringify(recommendationFacts(told))}\n` : recommendationText(told));
}

interface Played {
  readonly work: RecordedWork;
  readonly group: string;
  readonly settings: WorldSettings;
  readonly otherQuota: number;
  readonly nodes: number;
  readonly speed: number;
  readonly maxRequestAt: (quota: Rates) => Rates;
}

async function ofTrace(input: Readable, options: RecommendCommandOptions): Promise<Played> {
  const trace = traceOptions(options);
  const group = await replayedGroup(options);
  const work = await collectWork(readTrace(input, options.from, trace));
  const { name, settings, maxRequestAt } = group;
  const otherQuota = group.quota[options.of === 'messages' ? 1 : 0];
  return { work, group: name, settings, otherQuota, nodes: trace.nodes, speed: trace.speed, maxRequestAt };
}

/** With the settings of its recorder; what a single request asked for is in no recording, so none is too large. */
async function ofRecording(recording: Recording, options: RecommendCommandOptions): Promise<Played> {
  const { group: wanted, direction, of } = options;
  const { header } = recording;
  const at = groupIndex(header, wanted);
  const { nodeId: _, nonce: _ofThisProcess, ...settings } = settingsOf(header, header.groups[at]!.strategy);
  const group = settings.groups[at] as GroupSettings;
  const work = await collectWork(workOfRecording(recording, { group: wanted, direction }));
  // The simulated clusters publish.
  const played = { ...group, cost: { publish: group.cost[direction], dispatch: group.cost[direction] } };
  return {
    work,
    group: group.name,
    settings: { ...settings, partitions: 1, groups: [played] },
    otherQuota: group.quota[direction][of === 'messages' ? 1 : 0],
    nodes: work.nodes,
    speed: 1,
    maxRequestAt: () => UNLIMITED,
  };
}

function pageOf({ strategies, best }: Recommendation): string {
  const runs = strategies.map(({ run }) => run);
  return renderPage(runs, `All strategies at ${best.perSecond}/s with a burst of ${best.depth}.`, null);
}

/** On a terminal, one line that is written over; never beside JSON. */
function progressOf(isJson: boolean): (play: { readonly depth: number; readonly perSecond: number }) => void {
  if (isJson || !process.stderr.isTTY) return () => undefined;
  return ({ depth, perSecond }) => process.stderr.write(`\r\u001b[Kplaying a burst of ${depth} at ${perSecond}/s …\r`);
}
