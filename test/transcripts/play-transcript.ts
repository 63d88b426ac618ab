import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { parseQuantity, QUANTITY_EXAMPLES } from '../../src/config/setting/quantity.js';
import { patchOf } from '../../src/tools/cli/groups/change-groups.js';
import { GROUP } from '../simulation/settings.js';
import { TranscriptCluster } from './transcript-cluster.js';
import { TranscriptView } from './transcript-view.js';

const SEPARATOR = '----';

/**
 * Plays a transcript and returns it with the answers of today. Paragraphs are apart by empty lines: sentences that begin
 * with `#` and commands, then `----` and what came of them.
 */
export function playTranscript(text: string): string {
  const player = new Player();
  let line = 0;
  const played = text
    .trimEnd()
    .split('\n\n')
    .map((paragraph) => {
      const [above = ''] = paragraph.split(`\n${SEPARATOR}\n`);
      const answers = above.split('\n').flatMap((command, at) => player.play(command, line + at + 1));
      line += paragraph.split('\n').length + 1;
      return [above, ...(answers.length > 0 ? [SEPARATOR] : []), ...answers].join('\n');
    });
  return `${played.join('\n\n')}\n`;
}

class Player {
  #cluster: TranscriptCluster | null = null;
  #view: TranscriptView | null = null;

  /** Returns what is to be told of it. */
  play(line: string, number: number): readonly string[] {
    if (line === '' || line.startsWith('#')) return [];
    try {
      const [command = '', ...words] = line.trim().split(/\s+/);
      if (command === 'cluster') return this.#begin(words);
      if (this.#cluster === null) throw new Error('begin with "cluster"');
      if (command === 'run') return this.#run(this.#cluster, words);
      const tell = TOLD[command];
      if (tell !== undefined) return tell(this.#cluster, words);
      const arrange = ARRANGED[known(command, [...Object.keys(ARRANGED), ...Object.keys(TOLD), 'run'])];
      arrange(this.#cluster, words);
      return [];
    } catch (error) {
      throw new Error(`line ${number}, "${line}": ${(error as Error).message}`);
    }
  }

  /** Settings as `quotamesh group set` takes them. */
  #begin(words: readonly string[]): readonly string[] {
    const groups = { [GROUP.name]: patchOf(words) };
    const config = resolveConfig(
      { cluster: 'transcript', topic: 'memory', groups },
      { source: '(transcript)', env: {} },
    );
    this.#cluster = new TranscriptCluster(config.groups[0]);
    this.#view = new TranscriptView(this.#cluster);
    return [];
  }

  /** `run 2s` looks at the end, `run 2s by 200ms` ten times. */
  #run(cluster: TranscriptCluster, [time = '', by, step = '']: readonly string[]): readonly string[] {
    const [wholeMs, stepMs] = [durationOf(time), durationOf(by === 'by' ? step : time)];
    const lines: string[] = [];
    for (let ranMs = 0; ranMs < wholeMs; ranMs += stepMs) {
      cluster.run(stepMs);
      const changes = this.#view?.changes() ?? [];
      if (changes.length > 0) lines.push(`${cluster.nowMs} ms`, ...changes.map((change) => `  ${change}`));
    }
    return lines.length > 0 ? lines : ['nothing changed'];
  }
}

type Arrange = (cluster: TranscriptCluster, words: readonly string[]) => void;

/** A `run` shows what came of them. */
const ARRANGED: Readonly<Record<string, Arrange>> = {
  start: (cluster, names) => cluster.start(names),
  demand: (cluster, words) => {
    for (const [name, rate] of Object.entries(patchOf(words))) cluster.demand(name, Number(rate));
  },
  leave: (cluster, names) => cluster.leave(names),
  crash: (cluster, names) => cluster.crash(names),
  cut: (cluster, names) => cluster.cut(names, true),
  heal: (cluster, names) => cluster.cut(names, false),
  quota: (cluster, [quota]) => cluster.setQuota(Number(quota)),
  queue: (cluster, [part]) => cluster.setQueue(Number(part)),
  topic: (cluster, [how = '']) => cluster.setTopicAway(known(how, ['away', 'back']) === 'away'),
};

/** Those that tell at once what came of them. */
const TOLD: Readonly<Record<string, (cluster: TranscriptCluster, words: readonly string[]) => readonly string[]>> = {
  work: (cluster, words) =>
    Object.entries(patchOf(words)).map(
      ([name, pieces]) => `${name}  ${cluster.work(name, Number(pieces))} of ${pieces} admitted`,
    ),
  take: (cluster, [name = '', messages]) => [`${cluster.take(name, Number(messages))} taken`],
  'hand-back': (cluster, [name = '', messages]) => [`${cluster.handBack(name, Number(messages))} may be taken now`],
};

function durationOf(text: string): number {
  const milliseconds = parseQuantity('duration', text);
  if (milliseconds > 0) return milliseconds;
  throw new Error(`"${text}" is no time; write ${QUANTITY_EXAMPLES.duration}`);
}

function known(word: string, words: readonly string[]): string {
  if (words.includes(word)) return word;
  throw new Error(`"${word}" is not known; known are ${words.join(', ')}`);
}
