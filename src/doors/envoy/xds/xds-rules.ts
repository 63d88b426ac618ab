import { messageOf } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { ResolvedConfig, XdsConfig } from '../../../config/resolved/resolved-config.js';
import { envoy, ratelimit } from '../generated/messages.js';
import { decoded } from '../grpc/decoded.js';
import { GRPC_STATUS } from '../grpc/grpc-status.js';
import { type LoadedRules, rulesFrom } from '../rules/load-rules.js';
import { readXdsRules } from '../rules/read-xds-rules.js';
import { RulesBook, type RulesTarget } from '../rules/rules-book.js';
import { RuleFindings } from '../rules/written-rules.js';
import { XdsStream } from './xds-stream.js';

const { DiscoveryRequest, DiscoveryResponse } = envoy.service.discovery.v3;
const { RateLimitConfig } = ratelimit.config.ratelimit.v3;

type Response = envoy.service.discovery.v3.DiscoveryResponse.$Properties;

/** Rules of a management server: each response is all of them. One with a mistake is refused, and changes nothing. */
export class XdsRules {
  readonly book: RulesBook;
  readonly #telemetry: Telemetry;
  #xds: XdsConfig;
  #stream: XdsStream | null = null;
  #retry: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** Version accepted last, told in every request. */
  #version = '';
  #path: string = PATHS[0];
  /** Attempts since the last response. */
  #attempts = 0;
  #connects = 0;
  #isConnected = false;
  #lostBecause: string | null = null;
  #target: RulesTarget | null = null;

  constructor(base: ResolvedConfig, xds: XdsConfig, telemetry: Telemetry) {
    this.#xds = xds;
    this.#telemetry = telemetry;
    this.book = new RulesBook(base, xds.url, NO_RULES, telemetry);
  }

  get status() {
    return {
      url: this.#xds.url,
      isConnected: this.#isConnected,
      version: this.#version === '' ? null : this.#version,
      connects: this.#connects,
      lostBecause: this.#lostBecause,
    };
  }

  /** Connects, and follows the server from now on. */
  start(target: RulesTarget): void {
    this.book.follow(target);
    this.#target = target;
    this.#connect();
  }

  /** Takes another certificate for the next connection. */
  renew({ envoy: { xds } }: ResolvedConfig): void {
    if (xds !== null) this.#xds = { ...this.#xds, tls: xds.tls };
  }

  /** Does nothing: the server says when there is news. */
  async readNow(): Promise<void> {}

  close(): void {
    this.#isClosed = true;
    this.#stream?.close();
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  #connect(): void {
    this.#retry = null;
    this.#attempts++;
    this.#connects++;
    const { url, node, tls } = this.#xds;
    try {
      this.#stream = new XdsStream({
        url,
        path: this.#path,
        tls: tlsOptionsOf(tls),
        message: (bytes) => this.#answer(decoded(DiscoveryResponse, bytes)),
        ended: (reason, status) => this.#lost(reason, status),
      });
    } catch (error) {
      // A certificate that cannot be used.
      this.#lost(messageOf(error), null);
      return;
    }
    this.#send({ node: { id: node, userAgentName: 'quotamesh' } });
  }

  #answer(response: Response): void {
    if (!this.#isConnected) this.#telemetry.log('info', 'xDS server answers', { url: this.#xds.url });
    this.#isConnected = true;
    this.#say(null);
    this.#attempts = 0;
    const refusal = this.#offer(response);
    if (refusal === null) this.#version = response.versionInfo ?? '';
    const errorDetail = refusal === null ? null : { code: GRPC_STATUS.INVALID_ARGUMENT, message: refusal };
    this.#send({ responseNonce: response.nonce ?? '', errorDetail });
  }

  /** Returns why the resources are refused; null = they are in force. */
  #offer({ resources, typeUrl }: Response): string | null {
    try {
      if (typeUrl !== TYPE_URL) throw new Error(`resources of type ${typeUrl} were not asked for`);
      const before = this.book.status.domains;
      this.book.take(rulesOf(this.#xds.url, resources ?? []));
      if (before > 0 && this.book.status.domains === 0) {
        const remedy = 'If that was not meant, look at the management server: it sends no rules any more.';
        this.#telemetry.log('warn', 'xDS has no rules: nothing is limited', { url: this.#xds.url, before, remedy });
      }
      return null;
    } catch (error) {
      return this.book.refuse(error).slice(0, REASON_MAX);
    }
  }

  #send(more: envoy.service.discovery.v3.DiscoveryRequest.$Properties): void {
    const request = { versionInfo: this.#version, typeUrl: TYPE_URL, ...more };
    this.#stream?.send(DiscoveryRequest.encode(request).finish());
  }

  #say(lostBecause: string | null): void {
    this.#lostBecause = lostBecause;
    if (this.#target !== null) this.#target.rules.serverAway = lostBecause;
  }

  /** Keeps the rules, and connects again: after half a second at first, after half a minute at last. */
  #lost(reason: string, status: number | null): void {
    if (this.#isClosed) return;
    this.#stream = null;
    this.#isConnected = false;
    if (status === GRPC_STATUS.UNIMPLEMENTED) this.#path = PATHS.find((path) => path !== this.#path) ?? this.#path;
    if (reason !== this.#lostBecause) {
      const facts = { url: this.#xds.url, reason, remedy: 'Rules stay as they are. Check envoy.xds and the server.' };
      this.#telemetry.log('warn', 'xDS server is away', facts);
    }
    this.#say(reason);
    const most = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(this.#attempts - 1, 10));
    this.#retry = setTimeout(() => this.#connect(), most * (0.5 + Math.random() / 2));
  }
}

/** Reads all resources of a response. Throws a ConfigError, and GRPC_REQUEST_INVALID. */
function rulesOf(
  source: string,
  resources: readonly { type_url?: string | null; value?: Uint8Array | null }[],
): LoadedRules {
  const findings = new RuleFindings();
  const written = resources.map(({ type_url: type, value }) => {
    if (type !== TYPE_URL) throw new Error(`a resource has type ${type}`);
    return readXdsRules(decoded(RateLimitConfig, value ?? new Uint8Array()), findings);
  });
  return rulesFrom(source, { written, ...findings });
}

function tlsOptionsOf({ ca, cert, key, passphrase, servername }: XdsConfig['tls']) {
  return {
    ...(ca !== null && { ca }),
    ...(cert !== null && { cert }),
    ...(key !== null && { key }),
    ...(passphrase !== null && { passphrase }),
    ...(servername !== null && { servername }),
  };
}

const TYPE_URL = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig';

/** The aggregated service, which ratelimit asks; then that of these rules alone. */
const PATHS = [
  '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  '/ratelimit.service.ratelimit.v3.RateLimitConfigDiscoveryService/StreamRlsConfigs',
] as const;

const NO_RULES = rulesFrom('xds', { written: [], mistakes: [], notes: [] });
/** Letters of a reason for the server. */
const REASON_MAX = 4000;
const RETRY_MS = 500;
const RETRY_MAX_MS = 30_000;
