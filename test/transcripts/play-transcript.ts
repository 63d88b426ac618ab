import { millisecondsOf, rejectUnknown, TranscriptCluster } from './transcript-cluster.js';

const SEPARATOR = '----';

/**
 * Plays a transcript and returns it with the answers of today: commands, `----`, what followed, an empty line. Text
 * that begins with `#` and empty lines stay where they are.
 */
export function playTranscript(text: string): string {
  let cluster: TranscriptCluster | null = null;
  const played: string[] = [];
  let isAnswer = false;
  let hasAnswered = false;
  text.split('\n').forEach((line, at) => {
    if (line === SEPARATOR) {
      isAnswer = true;
      return;
    }
    // What stood there as the answer until now is left out, up to the empty line behind it.
    if (isAnswer && line !== '') return;
    isAnswer = false;
    // Without it the next command would be taken for a line of the answer.
    if (hasAnswered && line !== '') played.push('');
    hasAnswered = false;
    played.push(line);
    if (line === '' || line.startsWith('#')) return;
    try {
      const [command = '', ...words] = line.trim().split(/\s+/);
      if (command === 'cluster') cluster = new TranscriptCluster(pairsOf(words));
      else if (cluster === null) throw new Error('begin with "cluster"');
      else {
        const answer = answerOf(cluster, command, words);
        hasAnswered = answer.length > 0;
        if (hasAnswered) played.push(SEPARATOR, ...answer);
      }
    } catch (error) {
      throw new Error(`line ${at + 1}, "${line}": ${(error as Error).message}`);
    }
  });
  if (hasAnswered) played.push('');
  return played.join('\n');
}

type Command = (cluster: TranscriptCluster, words: readonly string[]) => readonly string[] | undefined;

/** Each returns its answer; those that only arrange something have none, and a `run` shows what came of them. */
const COMMANDS: Readonly<Record<string, Command>> = {
  start: (cluster, names) => void cluster.start(names),
  demand: (cluster, words) => void cluster.demand(pairsOf(words)),
  leave: (cluster, names) => void cluster.leave(names),
  crash: (cluster, names) => void cluster.crash(names),
  cut: (cluster, names) => void cluster.cut(names, true),
  heal: (cluster, names) => void cluster.cut(names, false),
  quota: (cluster, [quota]) => void cluster.setQuota(Number(quota)),
  queue: (cluster, [part]) => void cluster.setQueue(Number(part)),
  topic: (cluster, [how = '']) => {
    rejectUnknown([how], ['away', 'back']);
    cluster.setTopicAway(how === 'away');
    return undefined;
  },
  work: (cluster, words) => cluster.work(pairsOf(words)),
  take: (cluster, [name = '', messages]) => [`${cluster.take(name, Number(messages))} taken`],
  'hand-back': (cluster, [name = '', messages]) => [`${cluster.handBack(name, Number(messages))} may be taken now`],
  run: (cluster, words) => ran(cluster, words),
};

function answerOf(cluster: TranscriptCluster, command: string, words: readonly string[]): readonly string[] {
  rejectUnknown([command], Object.keys(COMMANDS));
  return (COMMANDS[command] as Command)(cluster, words) ?? [];
}

/** `run 2s` looks at the end, `run 2s by 200ms` ten times. */
function ran(cluster: TranscriptCluster, [time = '', by, step]: readonly string[]): readonly string[] {
  const [wholeMs, stepMs] = [millisecondsOf(time), millisecondsOf(by === 'by' ? (step ?? '') : time)];
  const lines: string[] = [];
  for (let ranMs = 0; ranMs < wholeMs; ranMs += stepMs) {
    cluster.run(stepMs);
    const changes = cluster.changes();
    if (changes.length > 0) lines.push(`${cluster.nowMs} ms`, ...changes.map((change) => `  ${change}`));
  }
  return lines.length > 0 ? lines : ['nothing changed'];
}

function pairsOf(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [name = '', value] = word.split('=');
      if (value === undefined) throw new Error(`"${word}" has no value; write ${name}=…`);
      return [name, value] as const;
    }),
  );
}
