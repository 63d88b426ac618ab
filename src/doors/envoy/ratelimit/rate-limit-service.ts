import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { EnvoyConfig } from '../../../config/resolved/resolved-config.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { envoy } from '../generated/messages.js';
import type { GrpcMethod, UnaryFacts } from '../grpc/grpc-method.js';
import type { DescriptorRule, DescriptorRules } from '../rules/descriptor-rules.js';
import type { UnknownDomains } from '../rules/unknown-domains.js';
import { type ClientHeaders, clientHeaders } from './client-headers.js';
import { KnownRequests } from './known-requests.js';
import { OverrideReader } from './override-reader.js';
import { type Charge, type Charged, NOT_LIMITED, RequestDecision } from './request-decision.js';
import { encodedAnswer } from './response.js';

type Descriptor = envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.$Properties;

/** Counts since the start. */
export interface RateLimitCounts {
  /** Requests by their answer. */
  readonly requests: { ok: number; overLimit: number };
  /** Descriptors by what became of them; owed = charged though less was left. */
  readonly descriptors: { granted: number; refused: number; owed: number; unlimited: number };
  /** Requests of domains that nothing limits. */
  unknownDomain: number;
  /** Refusals by the rule: of a group, template or rule of a file. */
  readonly refusedBy: Record<string, number>;
}

interface ServiceParts {
  readonly node: NodeParts;
  readonly rules: DescriptorRules;
  /** Groups and keys by the names of descriptors; the rules, where none are given. */
  readonly names: DescriptorRules;
  readonly domains: UnknownDomains;
}

/** Answers a gateway by the limits of its descriptors. */
export class RateLimitService {
  readonly methods: readonly GrpcMethod[];
  readonly counts: RateLimitCounts = {
    requests: { ok: 0, overLimit: 0 },
    descriptors: { granted: 0, refused: 0, owed: 0, unlimited: 0 },
    unknownDomain: 0,
    refusedBy: {},
  };
  readonly #parts: ServiceParts;
  readonly #config: EnvoyConfig;
  readonly #decision: RequestDecision;
  readonly #overrides: OverrideReader;
  readonly #headers: ClientHeaders | null;
  readonly #requests = new KnownRequests();
  readonly #lookedAt = new WeakSet<DescriptorRule>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#config = parts.node.config.envoy;
    this.#decision = new RequestDecision(parts.node);
    this.#overrides = new OverrideReader(parts.node.keys);
    this.#headers = clientHeaders(this.#config.headers);
    const path = `/${RATE_LIMIT_SERVICE}/ShouldRateLimit`;
    const { maxRequestBytes } = this.#config;
    const answer = (request: Uint8Array, call: UnaryFacts) => this.#answer(request, call);
    this.methods = [{ kind: 'unary', path, needs: 'traffic', maxRequestBytes, answer }];
  }

  get overridesRefused(): number {
    return this.#overrides.refused + this.#decision.limitsRefused;
  }

  #answer(bytes: Uint8Array, call: UnaryFacts): Uint8Array | Promise<Uint8Array> {
    const { domain, descriptors, hitsAddend } = this.#requests.read(bytes);
    this.#rejectUnfit(domain, descriptors);
    const hits = hitsAddend || 1;
    const found = descriptors.map((descriptor) => this.#chargeOf(domain, descriptor, hits, call));
    const isShut = this.#isShut(domain, found);
    const charges = withoutReplaced(found);
    if (!isShut && this.#decision.needsLog(charges)) return this.#waited(charges, call.leftMs);
    const answers: Charged[] = [];
    const isOver = isShut || this.#decide(charges, answers);
    if (isShut) for (let at = 0; at < charges.length; at++) answers.push(SHUT);
    this.#count(isOver, charges, answers);
    return encodedAnswer(isOver, charges, answers, this.#headers);
  }

  /** Waits for a round trip to the log. */
  async #waited(charges: readonly Charge[], leftMs: number): Promise<Uint8Array> {
    const answers: Charged[] = [];
    const isOver = await this.#decision.decideWaiting(charges, answers, leftMs);
    this.#count(isOver, charges, answers);
    return encodedAnswer(isOver, charges, answers, this.#headers);
  }

  #rejectUnfit(domain: string, { length }: readonly Descriptor[]): void {
    if (domain === '') throw new QuotameshError('GRPC_REQUEST_INVALID', { reason: 'it has no domain' });
    if (length === 0) throw new QuotameshError('GRPC_REQUEST_INVALID', { reason: 'it has no descriptors' });
    const { maxDescriptors } = this.#config;
    if (length <= maxDescriptors) return;
    throw new QuotameshError('GRPC_TOO_LARGE', { what: 'the list of descriptors', limit: maxDescriptors });
  }

  #chargeOf(domain: string, descriptor: Descriptor, hitsOfRequest: number, call: UnaryFacts): Charge {
    // protobufjs gives absent texts of an entry as ''.
    const entries = descriptor.entries as Parameters<DescriptorRules['find']>[1];
    const rule = this.#ruleOf(domain, entries, descriptor.limit != null);
    if (rule === null || rule.isUnlimited) return UNLIMITED;
    const bucket = rule.bucketOf(domain, entries);
    const own = descriptor.hitsAddend;
    const hits = own == null ? hitsOfRequest : hitsIn(own.value);
    const mayOwe = own != null && this.#mayOwe(rule, hits);
    return { rule, bucket, hits, limit: this.#overrides.read(bucket, descriptor.limit, call), mayOwe };
  }

  /** Finds what limits a descriptor: with a limit of its own the key of its name, where a template allows limits. */
  #ruleOf(domain: string, entries: Parameters<DescriptorRules['find']>[1], hasLimit: boolean): DescriptorRule | null {
    const { rules, names } = this.#parts;
    const named = hasLimit ? names.find(domain, entries) : null;
    const isAllowed = named !== null && this.#overrides.areAllowed(named.bucketOf(domain, entries));
    return isAllowed ? named : rules.find(domain, entries);
  }

  /** Tests if hits of their own are of work that is done; notes rules that are looked at. */
  #mayOwe(rule: DescriptorRule, hits: number): boolean {
    if (hits === 0) this.#lookedAt.add(rule);
    const { chargedAfterwards } = this.#config;
    return chargedAfterwards === 'all' || (chargedAfterwards === 'looked-at' && this.#lookedAt.has(rule));
  }

  #decide(charges: readonly Charge[], answers: Charged[]): boolean {
    const [one, ...others] = charges;
    if (others.length > 0 || one === undefined) return this.#decision.decideAll(charges, answers);
    const answer = one.rule === null ? NOT_LIMITED : this.#decision.decideOne(one);
    answers.push(answer);
    return answer.isOver;
  }

  /** Tests if the domain is unknown, and the setting refuses such. */
  #isShut(domain: string, charges: readonly Charge[]): boolean {
    const { domains } = this.#parts;
    if (charges.some(({ rule }) => rule !== null) || !domains.isUnknown(domain)) return false;
    this.counts.unknownDomain++;
    return domains.areRefused;
  }

  #count(isOver: boolean, charges: readonly Charge[], answers: readonly Charged[]): void {
    const { requests, descriptors, refusedBy } = this.counts;
    if (isOver) requests.overLimit++;
    else requests.ok++;
    for (let at = 0; at < answers.length; at++) {
      const rule = charges[at]?.rule ?? null;
      if (rule === null) descriptors.unlimited++;
      else if (answers[at]?.isOver !== true) descriptors.granted++;
      else if (charges[at]?.mayOwe === true && charges[at].hits > 0) descriptors.owed++;
      else {
        descriptors.refused++;
        refusedBy[rule.name] = (refusedBy[rule.name] ?? 0) + 1;
      }
    }
  }
}

export const RATE_LIMIT_SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';

/** Leaves out what another rule of the request replaces. */
function withoutReplaced(charges: readonly Charge[]): readonly Charge[] {
  if (charges.every(({ rule }) => rule === null || rule.replaces.length === 0)) return charges;
  const replaced = new Set(charges.flatMap(({ rule }) => rule?.replaces ?? []));
  return charges.map((charge) => {
    const { rule } = charge;
    return rule === null || !replaced.has(rule.label) ? charge : { ...charge, rule: null };
  });
}

/** Reads a wrapped uint64; what is beyond a number's integers is as good as that. */
function hitsIn(value: number | { toNumber(): number } | null | undefined): number {
  const number = typeof value === 'object' && value !== null ? value.toNumber() : (value ?? 0);
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

const UNLIMITED: Charge = Object.freeze({ rule: null, bucket: '', hits: 0, limit: undefined, mayOwe: false });
const SHUT: Charged = { ...NOT_LIMITED, isOver: true };
