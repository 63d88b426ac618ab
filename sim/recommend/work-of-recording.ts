import { DIRECTION_COUNT, directionIndex } from '../../src/core/base/vocabulary.js';
import { Limiter } from '../../src/core/limiter/limiter.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';
import { laneShares } from '../../src/node/status/lane-summary.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import type { Recording } from '../../src/topic/recording/read-recording.js';
import { chosenGroup } from '../replay/chosen-group.js';
import { decoded } from '../replay/decoded.js';
import { type RecordingChoice, settingsOf } from '../replay/replay-recording.js';
import type { TraceArrival } from '../replay/trace.js';

/** Yields reported demand in even slices of 100 ms. The traffic was less smooth. */
export async function* workOfRecording(recording: Recording, choice: RecordingChoice): AsyncGenerator<TraceArrival> {
  const { header, group } = await chosenGroup(recording, choice.group);
  const settings = settingsOf(header, header.groups[group].strategy);
  const coordinator = new Coordinator(settings, new Limiter(settings.groups.length * DIRECTION_COUNT));
  const codec = new RecordCodec(header.cluster);
  const direction = directionIndex(choice.direction);
  const nodes = new Map<string, Asked>();
  let beginMs: number | null = null;
  let slices = 0;
  for await (const entry of recording.entries) {
    if (entry === 'caught-up') {
      beginMs = coordinator.log.membershipLogMs;
      continue;
    }
    if ('epoch' in entry) {
      coordinator.step({ kind: 'epoch-began', epoch: entry.epoch }, 0);
      continue;
    }
    const event = decoded(entry, codec);
    if (event === null) continue;
    // Until this record the earlier reports' demand holds.
    const shares = beginMs === null ? [] : laneShares(coordinator, group, direction, 0);
    coordinator.step({ kind: 'records-read', records: [event] }, 0);
    if (beginMs === null) continue;
    const nowMs = coordinator.log.membershipLogMs - beginMs;
    for (; (slices + 1) * SLICE_MS <= nowMs; slices++) {
      const arrivals: TraceArrival[] = [];
      for (const { nodeId, demand } of shares) {
        const asked = nodes.get(nodeId) ?? { node: nodes.size, messages: 0, bytes: 0 };
        nodes.set(nodeId, asked);
        asked.messages += ((demand.messagesPerSecond ?? 0) * SLICE_MS) / 1000;
        asked.bytes += ((demand.bytesPerSecond ?? 0) * SLICE_MS) / 1000;
        arrivals.push(...sliceOf(asked, slices * SLICE_MS));
      }
      yield* arrivals.sort((one, other) => one.atMs - other.atMs);
    }
  }
}

interface Asked {
  readonly node: number;
  /** Unplayed demand, less than a message. */
  messages: number;
  bytes: number;
}

/** Yields whole messages, each with its part of the bytes. */
function* sliceOf(asked: Asked, beganMs: number): Generator<TraceArrival> {
  const whole = Math.floor(asked.messages);
  const pieces = Math.min(whole, PIECES_MAX);
  const bytesEach = asked.messages > 0 ? asked.bytes / asked.messages : 0;
  let left = whole;
  for (let at = 0; at < pieces; at++) {
    const messages = Math.ceil(left / (pieces - at));
    left -= messages;
    const bytes = Math.round(messages * bytesEach);
    asked.bytes -= bytes;
    const atMs = beganMs + ((at + 0.5) * SLICE_MS) / pieces;
    yield { atMs, node: asked.node, messages, bytes: Math.max(0, bytes), key: '', retryAfterMs: 0, line: 0 };
  }
  asked.messages -= whole;
  asked.bytes = Math.max(0, asked.bytes);
}

const SLICE_MS = 100;
/** Pieces per node and slice: 500 a second. */
const PIECES_MAX = 50;
