import { DEFAULT_STRATEGY } from '../../src/core/convergence/strategies.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { Scenario } from '../scenario/scenario.js';
import type { Recorder } from '../verdict/recorder.js';
import type { RunResult } from '../verdict/run-result.js';
import { RecordedCluster } from './recorded-cluster.js';
import type { Attempts, Recording } from './recording.js';
import { playRun } from './run-scenario.js';

/** Judges a recorded run as simulated ones; nodes come and go when they did, as the default strategy should. */
export function judgeRecording(scenario: Scenario, recording: Recording, seed: number): RunResult {
  const rates = scenario.happenings.filter(({ what }) => what === 'rate');
  const happenings = [...rates, ...recording.happenings].sort((one, other) => one.atMs - other.atMs);
  return playRun({ ...scenario, happenings }, seed, {
    judgedAs: DEFAULT_STRATEGY,
    create: (queue) => new RecordedCluster(recording, scenario.nodes, queue),
    beginLoad: (queue, _cluster, recorder) => playAttempts(recording.attempts, queue, recorder),
  });
}

function playAttempts(attempts: Attempts, queue: Pick<EventQueue, 'nowMs' | 'at'>, recorder: Recorder): void {
  const { atMs } = attempts;
  const order = Uint32Array.from(atMs, (_, at) => at).sort((one, other) => atMs[one] - atMs[other] || one - other);
  let done = 0;
  const next = () => {
    if (done < order.length) queue.at(Math.max(0, atMs[order[done]]), play);
  };
  const play = () => {
    const at = order[done++];
    const [node, messages, bytes] = [attempts.node[at], attempts.messages[at], attempts.bytes[at]];
    recorder.attempted(queue.nowMs, node, messages, bytes, attempts.retry[at] === 1, attempts.admitted[at] === 1);
    next();
  };
  next();
}
