import { quotaAsWritten } from '../../../config/resolved/rates-as-written.js';
import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { keyNameOf } from '../../../config/setting/key-name.js';
import { SECONDS_OF } from '../../../config/setting/quantity.js';
import { givenRate, type WrittenRate } from '../../../config/setting/written-rate.js';
import { ROUNDING_ERROR } from '../../../core/base/constants.js';
import {
  DIMENSIONS,
  DIRECTION_COUNT,
  type Dimension,
  type Direction,
  directionIndex,
  directionOfLane,
} from '../../../core/base/vocabulary.js';
import type { BudgetUnit } from '../../../core/strict/budget-units.js';
import { fullInMs, unitsLeft } from '../../../node/admission/decide/units-left.js';
import type { Refuser } from '../../../node/api/decision.js';
import type { KeySeen } from '../../../node/groups/keys/key-book.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';

/**
 * Makes RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11). Each configured dimension of a lane
 * is an item, named `orders-publish-messages`.
 */
export class RateLimitFields {
  readonly #node: NodeParts;
  /** By lane; made at first use, and anew for another group. */
  readonly #lanes: LanePolicies[] = [];

  constructor(node: NodeParts) {
    this.#node = node;
  }

  /** Makes RateLimit-Policy; q is the quota of the whole cluster. */
  policy(lane: number): string {
    const { field } = this.#of(lane);
    const kept = this.#node.budgets.get(groupNumberOf(lane));
    if (kept === undefined) return field;
    const { limit } = this.#node.budgets.told(kept);
    const seconds = Math.round((kept.calendar.lengthMs ?? 1000 * INTEGER_MAX) / 1000);
    const item = policyItem(this.#budgetName(lane, kept.config.unit), limit, seconds, kept.config.unit);
    return field === '' ? item : `${field}, ${item}`;
  }

  #budgetName(lane: number, unit: BudgetUnit): string {
    return policyName(this.#node.gate.groupOf(lane).name, 'budget', unit);
  }

  /** Makes the item of the budget in RateLimit; '' = the group has none. */
  #budgetLeft(lane: number, refused: { readonly level: Refuser; readonly retryAfterS: number } | undefined): string {
    const kept = this.#node.budgets.get(groupNumberOf(lane));
    if (kept === undefined) return '';
    const { unit, remaining, resetMs } = this.#node.budgets.told(kept);
    const endS = resetMs === null ? null : Math.ceil(resetMs / 1000);
    const seconds = refused === undefined ? endS : refused.level === 'budget' ? refused.retryAfterS : null;
    return leftItem(this.#budgetName(lane, unit), remaining, seconds);
  }

  /**
   * Makes RateLimit. r = whole units left at this node; t = seconds until as many as possible are left
   * (decide/units-left.ts). Without inflow there is no t. In a refusal only the item that refused carries t, equal to
   * Retry-After: no t may be later than that.
   */
  current(
    lane: number,
    nowMs: number,
    refused?: { readonly level: Refuser; readonly dimension: BudgetUnit; readonly retryAfterS: number },
  ): string {
    const { names } = this.#of(lane);
    const violated = refused === undefined ? '' : this.nameOf(lane, refused.dimension, refused.level);
    const seconds = (at: number) => {
      if (refused !== undefined) return violated === names[at] ? refused.retryAfterS : null;
      const fullMs = fullInMs(this.#node, lane, at, nowMs);
      return fullMs === Infinity ? null : Math.ceil(fullMs / 1000);
    };
    let field = '';
    for (let at = 0; at < DIMENSIONS.length; at++) {
      if (names[at] === '') continue;
      const left = unitsLeft(this.#node, lane, at, nowMs);
      field += `${field === '' ? '' : ', '}${leftItem(names[at], left, seconds(at))}`;
    }
    const budget = this.#budgetLeft(lane, refused);
    if (budget !== '') field += `${field === '' ? '' : ', '}${budget}`;
    if (refused === undefined || refused.level === 'budget' || names.includes(violated)) return field;
    return `${field === '' ? '' : `${field}, `}${leftItem(violated, 0, refused.retryAfterS)}`;
  }

  /** Makes both fields for a silent key. */
  ofKey(name: string, { settings, remaining }: KeySeen, direction: Direction) {
    const { names, field } = policiesOf({ ...settings, name }, direction);
    const items = names.flatMap((item, at) => {
      return item === '' ? [] : [leftItem(item, remaining[directionIndex(direction)][at], null)];
    });
    return { policy: field, current: items.join(', ') };
  }

  /** Makes RateLimit-Policy of a refusal, with the refusing level's limit. */
  policyWith(lane: number, { level, dimension }: { readonly level: Refuser; readonly dimension: BudgetUnit }): string {
    const own = this.policy(lane);
    const rate = this.#limitOf(lane, dimension, level);
    if (rate === null) return own;
    const name = this.nameOf(lane, dimension, level);
    return `${own === '' ? '' : `${own}, `}${policyItem(name, rate.amount, SECONDS_OF[rate.per], dimension)}`;
  }

  /** Names the violated policy; a topic without its own limit violates the group's. */
  nameOf(lane: number, dimension: BudgetUnit, level: Refuser = 'group'): string {
    if (level === 'budget') return this.#budgetName(lane, dimension);
    const at = DIMENSIONS.indexOf(dimension as Dimension);
    const group = this.#of(lane).names[at] ?? '';
    if (this.#limitOf(lane, dimension, level) === null) return group;
    const direction = directionOfLane(lane);
    if (level === 'node') return `node-${direction}-${dimension}`;
    return policyName(this.#node.gate.groupOf(lane).name, direction, dimension, `per-${level}`);
  }

  /** Returns the level's own limit; null = none, or the group, whose quota is the policy. */
  #limitOf(lane: number, unit: BudgetUnit, level: Refuser): WrittenRate | null {
    if (level === 'group' || level === 'budget') return null;
    // Other levels refuse by rates.
    const dimension = unit as Dimension;
    const direction = directionOfLane(lane);
    const { limits } = this.#node.config;
    if (level === 'node') return givenRate(limits.asWritten[direction], dimension);
    const section = level === 'topic' ? 'perTopic' : 'perClient';
    return givenRate(this.#node.gate.groupOf(lane).asWritten[section][direction], dimension);
  }

  #of(lane: number): LanePolicies {
    const known = this.#lanes[lane];
    if (known !== undefined && known.group === this.#node.gate.groupOf(lane)) return known;
    const made = policiesOf(this.#node.gate.groupOf(lane), directionOfLane(lane));
    this.#lanes[lane] = made;
    return made;
  }
}

function groupNumberOf(lane: number): number {
  return Math.floor(lane / DIRECTION_COUNT);
}

interface LanePolicies {
  readonly group: GroupConfig;
  /** Per dimension; empty = no quota. */
  readonly names: readonly string[];
  /** Whole RateLimit-Policy. */
  readonly field: string;
}

function policiesOf(group: GroupConfig, direction: Direction): LanePolicies {
  const items = DIMENSIONS.map((dimension, at) => {
    const rate = quotaAsWritten(group, direction, at);
    const name = policyName(group.name, direction, dimension);
    if (rate === null) return { name: '', text: '' };
    return { name, text: policyItem(name, rate.amount, SECONDS_OF[rate.per], dimension) };
  });
  const field = items.flatMap(({ name, text }) => (name === '' ? [] : [text])).join(', ');
  return { group, names: items.map(({ name }) => name), field };
}

/**
 * Percent-encodes a policy's name for a structured field's string: all but printable ASCII, quotes, backslashes,
 * percent signs. Long names of keys are shortened, because proxies drop answers with headers of some KiB. *Worked:*
 * `key:Jürgen` is `key:J%C3%BCrgen`.
 */
export function policyName(group: string, ...rest: readonly string[]): string {
  const name = [keyNameOf(group), ...rest].join('-');
  if (/^[ !#$&-[\]-~]*$/.test(name)) return name;
  return name.replace(/[^ !#$&-[\]-~]/gu, (text) => {
    return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/**
 * Writes an item of RateLimit-Policy; never more than is configured. q and w are integers: less than one unit per
 * window is written per longer window. *Worked:* 1 per 168 hours is `q=1;w=604800`, though 1 ÷ (1 ÷ 168) > 168.
 */
export function policyItem(name: string, amount: number, windowS: number, dimension: BudgetUnit): string {
  const windows = amount > 0 && amount < 1 ? Math.ceil((1 - ROUNDING_ERROR) / amount) : 1;
  const unit = dimension === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${name}";q=${wholeUnits(amount * windows * (1 + ROUNDING_ERROR))};w=${Math.min(INTEGER_MAX, windows * windowS)}${unit}`;
}

/** Writes the slots of a group as an item of RateLimit-Policy. */
export function slotsPolicyItem(group: string, limit: number): string {
  return `"${policyName(group, 'concurrency')}";q=${wholeUnits(limit)};qu="concurrent-requests"`;
}

/** Writes an item of RateLimit; null `seconds` = no t. */
export function leftItem(name: string, left: number, seconds: number | null): string {
  return `"${name}";r=${wholeUnits(left)}${seconds === null ? '' : `;t=${Math.min(INTEGER_MAX, seconds)}`}`;
}

/** Rounds up to whole seconds for Retry-After, at least 1: many clients read 0 as "at once". */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

/** Largest integer of a structured field (RFC 9651 §3.3.1). */
const INTEGER_MAX = 999_999_999_999_999;

function wholeUnits(amount: number): number {
  return Math.min(INTEGER_MAX, Math.floor(amount));
}
