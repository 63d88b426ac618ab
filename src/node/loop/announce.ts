import type { LogLevel, Telemetry } from '../../base/ports/telemetry.js';
import type { Notice } from '../../core/base/protocol/events-and-effects.js';
import { finiteOrNull } from '../../core/base/shown-rates.js';
import { BYTES, DIRECTION_COUNT, directionOfLane, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';

/**
 * Logs the core's notices: a line when a degraded state begins, and one when it ends. Of members that come or go at
 * once it names the first and counts the others: no writer of the topic fills the log.
 */
export class Announcements {
  readonly #telemetry: Telemetry;
  #spanEndMs = -Infinity;
  #named = 0;
  #unnamed = 0;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  tell(notices: readonly Notice[], nowMs: number): void {
    if (nowMs >= this.#spanEndMs) this.#beginSpan(nowMs);
    for (const notice of notices) {
      const { kind, ...facts } = notice;
      const [level, message] = LINES[kind];
      if (!MEMBER_KINDS.has(kind) || this.#named++ < NAMED_MAX) this.#telemetry.log(level, message, facts);
      else this.#unnamed++;
    }
  }

  #beginSpan(nowMs: number): void {
    if (this.#unnamed > 0) {
      const message = 'more nodes came or went within a second than are named';
      this.#telemetry.log('warn', message, { unnamed: this.#unnamed });
    }
    this.#spanEndMs = nowMs + SPAN_MS;
    this.#named = 0;
    this.#unnamed = 0;
  }
}

/** Milliseconds of a span; more writes fewer lines while many nodes come and go. */
const SPAN_MS = 1000;
/** Lines per span. */
const NAMED_MAX = 50;
const MEMBER_KINDS: ReadonlySet<Notice['kind']> = new Set(['member-joined', 'member-left', 'member-expired']);

const LINES: Readonly<Record<Notice['kind'], readonly [LogLevel, string]>> = {
  ready: ['info', 'node ready: it reads and writes the topic, and decides'],
  'member-joined': ['info', 'node joined the cluster'],
  'member-left': ['info', 'node left the cluster'],
  'member-expired': ['warn', 'node silent for too long, its shares are free'],
  isolated: ['warn', 'isolated: own records do not come back; shares are held, then the isolation policy applies'],
  reconnected: ['info', 'own records come back again; shares follow the log'],
  stalled: ['warn', 'this process slept; nothing is admitted until the log has been read up to now'],
  resumed: ['info', 'deciding again after the stall'],
  'nodes-refused': ['error', 'records of a node refused: there is no room for another id (limits.maxNodes)'],
  'epoch-changed': [
    'warn',
    'the topic holds another log than before: everything is said again, shares are held meanwhile',
  ],
  'epoch-settled': ['info', 'everybody has spoken in the new log; shares follow it'],
  'rows-refused': [
    'error',
    'reports of a node refused, it counts as idle there: too many groups (limits.maxGroupsPerNode) or rows (limits.maxRows)',
  ],
  'charge-refused': [
    'error',
    'the charge of a node fell further than it can: a false report, or a log that lost records; the rest is not believed',
  ],
  'partitions-differ': ['error', 'a member works with fewer partitions of the topic'],
  'partitions-doubted': [
    'warn',
    'a node counts fewer partitions of the topic than this one, which decides already and goes on',
  ],
  'absurd-time': [
    'warn',
    "the topic's clock is years off: that time is left out, or counts from the next record on; further ones are only counted",
  ],
  fenced: ['error', 'a newer process uses this node id'],
};

/** Writes changes of own shares to the decision log. */
export function announceShares(lanes: readonly number[], coordinator: Coordinator, telemetry: Telemetry): void {
  if (telemetry.decided === undefined) return;
  const { applied } = coordinator.shares;
  for (const lane of lanes) {
    telemetry.decided({
      group: coordinator.settings.groups[Math.floor(lane / DIRECTION_COUNT)]?.name ?? '',
      direction: directionOfLane(lane),
      shareMessages: finiteOrNull(applied[slotOf(lane, MESSAGES)]),
      shareBytes: finiteOrNull(applied[slotOf(lane, BYTES)]),
      limitMessages: finiteOrNull(applied[slotOf(lane, MESSAGES)]),
      limitBytes: finiteOrNull(applied[slotOf(lane, BYTES)]),
      members: coordinator.membership.alive.length,
    });
  }
}
