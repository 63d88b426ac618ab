import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import {
  type Decision,
  GRANTED_DECISION,
  type KeyLimit,
  type NotReady,
  type Origin,
  type PerDimension,
  type QuotaTold,
  type Refused,
  type Where,
} from '../../node/api/decision.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import type { Entered, NoSlot, SlotsTold } from '../../node/api/slot.js';
import { capacityProblem, quotaProblem, slotsProblem } from '../http/acquire/acquire-answers.js';
import { leftItem, policyItem, policyName, slotsPolicyItem, wholeSeconds } from '../http/acquire/rate-limit-fields.js';
import { problemOf } from '../http/route/problem.js';
import { rejectPromise, rejectWrongQuota } from './check-quota-options.js';

/** Charges and answers of requests; `Context` is the framework's argument to functions. */
export interface QuotaOptions<Context> {
  /** Group, key, scope, or a function making one: ``(request) => `key:${request.ip}` ``; undefined or '' = nobody's. */
  readonly group: Where | ((context: Context) => Where | undefined);
  /** Charged for requests without a `group`, all together; absent = they get 400. */
  readonly otherwise?: Where;
  /** Quota of the key, where its template has `allowLimits`; undefined = the template's. */
  readonly limit?: KeyLimit | ((context: Context) => KeyLimit | undefined);
  /** Messages of a request; default 1. */
  readonly messages?: number | ((context: Context) => number);
  /** Bytes of a request; default 0. */
  readonly bytes?: number | ((context: Context) => number);
  /** Tokens that a request may cost, for a budget in tokens. */
  readonly tokens?: number | ((context: Context) => number);
  /** Cents that a request may cost, for a budget in cents; at most six decimals. */
  readonly cents?: number | ((context: Context) => number);
  readonly origin?: Origin | ((context: Context) => Origin);
  /** Milliseconds that a request may wait: 0 to 600,000. Default: `usualWaitMs` of the group, 0 of relaxed ones. */
  readonly waitMs?: number;
  /** Lets requests pass uncharged and without headers. */
  readonly skip?: (context: Context) => boolean;
  /** `draft` (default): RateLimit and RateLimit-Policy; `x`: X-RateLimit-Limit, -Remaining, -Reset; `both`; `none`. */
  readonly headers?: HeaderStyle;
  /** `problem` (default) answers problem+json; `framework` throws an error that the framework answers. */
  readonly refusal?: 'problem' | 'framework';
}

export interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refusal | null;
  /** Gives its slot back when the response has ended; absent = it holds none. */
  readonly release?: () => void;
}

export interface Refusal {
  /** 429: the quota; 503: the node cannot decide; others: a wrong request. */
  readonly status: number;
  readonly problem: { readonly detail?: string; readonly retryAfterMs?: number };
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Shows that a waiting request's answer has ended, or was begun elsewhere. */
export type Watched = AbortSignal | WatchedResponse | undefined;

export interface WatchedResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  /** Absent in HTTP/2, where `stream` has it. */
  readonly destroyed?: boolean;
  readonly stream?: { readonly destroyed: boolean };
  once(event: 'close' | 'finish', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Decides, without a promise where nothing waits; null = somebody else answered, or nobody reads. */
export function admissionOf<Context>(node: QuotaNode, options: QuotaOptions<Context>) {
  rejectWrongQuota(node, options, { isPartial: false });
  const { group, otherwise, limit, origin, skip, headers = 'draft' } = options;
  const tell = headers !== 'none';
  const withSlots = new Set<Where>();
  const fromRequest = [group, limit, origin, ...AMOUNTS.map((unit) => options[unit])];
  const isFromRequest = fromRequest.some((option) => typeof option === 'function');

  return (context: Context, watched?: Watched): Admission | null | Promise<Admission | null> => {
    if (skip?.(context) === true) return PASSED;
    if (isGone(watched)) return null;
    const asked = of('group', group, context);
    const where = asked || otherwise;
    if (where === undefined) return unlessAnswered(NOT_NAMED, watched);
    const isWritten = typeof group !== 'function' || !asked;
    const told = (error: unknown): Admission => {
      const isOfProgram = !isFromRequest || (isWritten && isUnknown(error));
      const admission = withoutRoom(error) ?? (isOfProgram ? null : mistaken(error));
      if (admission === null) throw error;
      return admission;
    };
    const amounts = amountsOf(options, context);
    const from = of('origin', origin, context);
    const ownLimit = of('limit', limit, context);
    const how = ownLimit === undefined ? from : { ...from, limit: ownLimit };
    const named = (decision: Decision) => ({ node, where, direction: from?.direction ?? 'publish', decision });
    const waitMs = options.waitMs ?? node.usualWaitMs(where, from);
    const enter = () => {
      rememberSlots(withSlots, where);
      const wait = (signal: AbortSignal) => node.enter(where, amounts, { ...how, waitMs, signal });
      return waited(wait, watched, (entered) => enteredAs(named, entered, headers, watched), told);
    };
    // Nobody would know when the work ends.
    const mayEnter = watched !== undefined;
    if (mayEnter && withSlots.has(where)) return enter();
    if (waitMs > 0) {
      const wait = (signal: AbortSignal) => node.acquire(where, amounts, { ...how, waitMs, signal });
      const waiting = waited(wait, watched, (decision) => answered(named(decision), headers), told, mayEnter);
      return waiting.then((admission) => (admission === NEEDS_SLOT ? enter() : admission));
    }
    try {
      return unlessAnswered(answered(named(node.tryAcquire(where, amounts, { ...how, tell })), headers), watched);
    } catch (error) {
      if (mayEnter && needsSlot(error)) return enter();
      return unlessAnswered(told(error), watched);
    }
  };
}

const AMOUNTS = ['messages', 'bytes', 'tokens', 'cents'] as const;

function amountsOf<Context>({ messages = 1, bytes = 0, ...ofBudget }: QuotaOptions<Context>, context: Context) {
  const { tokens, cents } = ofBudget;
  return {
    messages: of('messages', messages, context),
    bytes: of('bytes', bytes, context),
    ...(tokens !== undefined && { tokens: of('tokens', tokens, context) }),
    ...(cents !== undefined && { cents: of('cents', cents, context) }),
  };
}

/** Groups with concurrency that are remembered. More: fewer are refused by name first. */
const REMEMBERED_MAX = 1000;
/** Stands for a group whose requests enter, and are not decided otherwise. */
const NEEDS_SLOT: Admission = Object.freeze({ headers: Object.freeze({}), refusal: null });

function rememberSlots(known: Set<Where>, where: Where): void {
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.add(where);
}

function needsSlot(error: unknown): boolean {
  return error instanceof QuotameshError && error.code === 'SLOT_NEEDED';
}

/** Turns an entry into an admission. Its slot goes back at the end. */
function enteredAs(
  named: (decision: Decision) => NamedDecision<Decision>,
  entered: Entered,
  style: HeaderStyle,
  watched: Watched,
): Admission {
  const { group, slots, decision } = entered;
  const ofQuota = decision === null ? null : answered(named(decision), style);
  const headers = slots === null || style === 'none' ? {} : slotHeaders(group, slots, entered, style);
  if (!entered.granted) {
    const told = withSlotsFirst(headers, ofQuota?.headers ?? {});
    const retryAfter = `${wholeSeconds(entered.retryAfterMs)}`;
    return {
      headers: { ...told, 'retry-after': retryAfter },
      refusal: ofQuota?.refusal ?? withoutSlot(entered, named),
    };
  }
  const release = () => void entered.release();
  releaseAtEnd(release, watched);
  return { headers: withSlotsFirst(headers, ofQuota?.headers ?? {}), refusal: null, release };
}

function releaseAtEnd(release: () => void, watched: Watched): void {
  if (watched instanceof AbortSignal) {
    watched.addEventListener('abort', release, { once: true });
    return;
  }
  watched?.once('finish', release);
  watched?.once('close', release);
}

function withoutSlot(entered: NoSlot, named: (decision: Decision) => NamedDecision<Decision>): Refusal {
  const { group, reason, because, retryAfterMs } = entered;
  if (reason === 'not-ready') {
    const { node } = named(GRANTED_DECISION);
    const error = new QuotameshError('NOT_READY', { node: node.nodeId, reason: because });
    return { status: 503, problem: capacityProblem(error, retryAfterMs) };
  }
  return { status: 429, problem: slotsProblem(group, because, retryAfterMs) };
}

function slotHeaders(group: string, slots: SlotsTold, entered: Entered, style: HeaderStyle): Record<string, string> {
  const { limit, free } = slots;
  const seconds = !entered.granted && entered.decision === null ? wholeSeconds(entered.retryAfterMs) : null;
  const draft = {
    'ratelimit-policy': slotsPolicyItem(group, limit),
    ratelimit: leftItem(policyName(group, 'concurrency'), free, seconds),
  };
  return {
    ...(style !== 'x' && draft),
    ...(style !== 'draft' && { 'x-ratelimit-limit': `${limit}`, 'x-ratelimit-remaining': `${free}` }),
  };
}

/** Lays headers of a quota over those of slots. Fields of the draft are lists. */
function withSlotsFirst(ofSlots: Readonly<Record<string, string>>, ofQuota: Readonly<Record<string, string>>) {
  const both = { ...ofSlots, ...ofQuota };
  for (const name of ['ratelimit-policy', 'ratelimit']) {
    if (ofSlots[name] !== undefined && ofQuota[name] !== undefined) both[name] = `${ofSlots[name]}, ${ofQuota[name]}`;
  }
  return both;
}

/** Tests for an unknown name in the program's own options. */
function isUnknown(error: unknown): boolean {
  return error instanceof QuotameshError && error.code === 'GROUP_UNKNOWN';
}

function of<Context, Value>(name: string, option: Value | ((context: Context) => Value), context: Context): Value {
  if (typeof option !== 'function') return option;
  const made = (option as (context: Context) => Value)(context);
  rejectPromise(name, made);
  return made;
}

/** Turns a refusal into null where the request is answered already: work behind an answer may go on. */
function unlessAnswered(admission: Admission, watched: Watched): Admission | null {
  return admission.refusal !== null && responseIn(watched)?.writableEnded === true ? null : admission;
}

function isGone(watched: Watched): boolean {
  if (watched instanceof AbortSignal) return watched.aborted;
  return (watched?.destroyed ?? watched?.stream?.destroyed) === true && !watched?.writableEnded;
}

function responseIn(watched: Watched): WatchedResponse | undefined {
  return watched instanceof AbortSignal ? undefined : watched;
}

/** Waits, and answers; `told` answers an error, or throws it again where it is the program's. */
async function waited<Made extends Decision | Entered>(
  wait: (signal: AbortSignal) => Promise<Made>,
  watched: Watched,
  answer: (decision: Made) => Admission,
  told: (error: unknown) => Admission,
  mayEnter = false,
): Promise<Admission | null> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  const response = responseIn(watched);
  const signal = watched instanceof AbortSignal ? watched : gone.signal;
  const wasBegun = response?.headersSent === true;
  // Closes also when somebody else has answered.
  response?.once('close', onClose);
  const isOver = () => signal.aborted || (response?.headersSent === true && !wasBegun);
  try {
    const admission = answer(await wait(signal));
    if (isOver()) admission.release?.();
    return isOver() ? null : unlessAnswered(admission, watched);
  } catch (error) {
    if (isOver()) return null;
    if (mayEnter && needsSlot(error)) return NEEDS_SLOT;
    return unlessAnswered(told(error), watched);
  } finally {
    response?.off('close', onClose);
  }
}

function answered(named: NamedDecision<Decision>, style: HeaderStyle): Admission {
  const { decision } = named;
  if (decision.granted) return { headers: rateLimitHeaders(named, style), refusal: null };
  const headers = { ...rateLimitHeaders(named, style), 'retry-after': `${wholeSeconds(decision.retryAfterMs)}` };
  const refusal = decision.reason === 'quota' ? overQuota({ ...named, decision }) : notReady({ ...named, decision });
  return { headers, refusal };
}

function overQuota(named: NamedDecision<Refused>): Refusal {
  const { level, dimension, retryAfterMs, group } = named.decision;
  const name = group ?? (typeof named.where === 'string' ? named.where : '');
  const facts = { group: name, direction: named.direction, dimension };
  return {
    status: 429,
    problem: { ...quotaProblem(policyNameOf(named, dimension, level), facts, level), retryAfterMs },
  };
}

function notReady({ node, decision }: NamedDecision<NotReady>): Refusal {
  const error = new QuotameshError('NOT_READY', { node: node.nodeId, reason: decision.because });
  return { status: 503, problem: capacityProblem(error, decision.retryAfterMs) };
}

/** Answers that waiters, topics, clients or keys have no room. */
function withoutRoom(error: unknown): Admission | null {
  if (!(error instanceof QuotameshError) || error.httpStatus !== 503) return null;
  return { headers: { 'retry-after': '1' }, refusal: { status: 503, problem: capacityProblem(error, 1000) } };
}

/** Answers a request that makes no name or amount; does not list similar names. */
function mistaken(error: unknown): Admission | null {
  if (!(error instanceof QuotameshError) || error.httpStatus < 400 || error.httpStatus >= 500) return null;
  const isName = error.code === 'GROUP_UNKNOWN';
  const told = isName ? new QuotameshError('NAME_OF_NO_GROUP', { name: showSent(error.facts.group) }) : error;
  return { headers: {}, refusal: refusalOf(told) };
}

/** Refuses requests without a name, which would share one key. */
const NOT_NAMED: Admission = Object.freeze({
  headers: Object.freeze({}),
  refusal: refusalOf(new QuotameshError('GROUP_NOT_NAMED')),
});

function refusalOf(error: QuotameshError): Refusal {
  const problem = problemOf(error);
  return { status: problem.status, problem };
}

const PASSED: Admission = Object.freeze({ headers: Object.freeze({}), refusal: null });

/** Error of `refusal: framework`: Express, Koa and Fastify answer its status, Express and Koa its headers. */
export class QuotaRefusedError extends Error {
  override readonly name = 'QuotaRefusedError';
  readonly status: number;
  readonly statusCode: number;
  readonly expose = true;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ status, problem }: Refusal, headers: Readonly<Record<string, string>>) {
    super(problem.detail);
    this.status = status;
    this.statusCode = status;
    this.headers = headers;
  }
}

type HeaderStyle = 'draft' | 'x' | 'both' | 'none';

interface NamedDecision<Made extends Decision> {
  readonly node: QuotaNode;
  readonly where: Where;
  readonly direction: 'publish' | 'dispatch';
  readonly decision: Made;
}

/** Writes the headers of a decision, as POST /v1/acquire does; none without a quota. */
function rateLimitHeaders(named: NamedDecision<Decision>, style: HeaderStyle): Record<string, string> {
  const { limit, windowMs, remaining, resetMs } = named.decision;
  if (style === 'none' || limit === undefined || windowMs === undefined) return {};
  const told = { limit, windowMs, remaining: remaining ?? NONE, resetMs: resetMs ?? NONE };
  const headers: Record<string, string> = {};
  if (style !== 'x') addDraft(headers, named, told);
  if (style !== 'draft') addX(headers, named, told);
  return headers;
}

const NONE: PerDimension = { messages: null, bytes: null };
const DIMENSIONS = ['messages', 'bytes'] as const;

/** Adds RateLimit fields; in a refusal only the item that refused carries t, equal to Retry-After. */
function addDraft(headers: Record<string, string>, named: NamedDecision<Decision>, told: QuotaTold): void {
  const refused = refusedOf(named.decision);
  const violated = refused === null ? null : policyNameOf(named, refused.dimension, refused.level);
  const policies: string[] = [];
  const left: string[] = [];
  let isTold = refused === null;
  for (const dimension of DIMENSIONS) {
    const amount = told.limit[dimension];
    if (amount === null) continue;
    const name = policyNameOf(named, dimension);
    const resetMs = told.resetMs[dimension];
    const seconds = refused === null ? (resetMs === null ? null : Math.ceil(resetMs / 1000)) : null;
    policies.push(policyItem(name, amount, (told.windowMs[dimension] ?? 1000) / 1000, dimension));
    left.push(leftItem(name, told.remaining[dimension] ?? 0, name === violated ? secondsOf(refused) : seconds));
    isTold ||= name === violated;
  }
  if (violated !== null && !isTold) left.push(leftItem(violated, 0, secondsOf(refused)));
  if (policies.length > 0) headers['ratelimit-policy'] = policies.join(', ');
  if (left.length > 0) headers.ratelimit = left.join(', ');
}

/** Adds X-RateLimit of the dimension that refused, else of messages if limited; Reset in seconds. */
function addX(headers: Record<string, string>, { decision }: NamedDecision<Decision>, told: QuotaTold): void {
  const refused = refusedOf(decision);
  const asked = refused?.dimension ?? (told.limit.messages === null ? 'bytes' : 'messages');
  const dimension = asked === 'bytes' ? asked : 'messages';
  const amount = refused?.budget?.limit ?? told.limit[dimension];
  if (amount === null) return;
  const resetMs = told.resetMs[dimension];
  headers['x-ratelimit-limit'] = `${amount}`;
  headers['x-ratelimit-remaining'] = `${refused === null ? (told.remaining[dimension] ?? 0) : 0}`;
  if (refused !== null) headers['x-ratelimit-reset'] = `${secondsOf(refused)}`;
  else if (resetMs !== null) headers['x-ratelimit-reset'] = `${Math.ceil(resetMs / 1000)}`;
}

/** Names a policy `orders-publish-messages`, or after the level of a fixed limit. */
function policyNameOf(
  { where, direction, decision }: NamedDecision<Decision>,
  dimension: Refused['dimension'],
  level: Refused['level'] = 'group',
): string {
  if (level === 'node') return `node-${direction}-${dimension}`;
  const group = refusedOf(decision)?.group ?? (typeof where === 'string' ? where : 'quota');
  if (level === 'budget') return policyName(group, level, dimension);
  return policyName(group, direction, dimension, ...(level === 'group' ? [] : [`per-${level}`]));
}

function refusedOf(decision: Decision): Refused | null {
  return !decision.granted && decision.reason === 'quota' ? decision : null;
}

function secondsOf(refused: Refused | null): number {
  return wholeSeconds(refused?.retryAfterMs ?? 0);
}
