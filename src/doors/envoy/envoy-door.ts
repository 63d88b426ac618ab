import type { Access } from '../../base/access/access.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { EnvoyConfig, ListenAddress } from '../../config/resolved/resolved-config.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import { GrpcListener } from './grpc/grpc-listener.js';
import { HealthService } from './grpc/health-service.js';
import { ReflectionService } from './grpc/reflection-service.js';
import { KUADRANT_SERVICE, KuadrantService } from './kuadrant/kuadrant-service.js';
import { limitedNames } from './limited-names.js';
import { bucketTarget } from './quota/bucket-targets.js';
import { QUOTA_SERVICE, QuotaService } from './quota/quota-service.js';
import { RATE_LIMIT_SERVICE, RateLimitService } from './ratelimit/rate-limit-service.js';
import type { DescriptorRules } from './rules/descriptor-rules.js';
import { NamesAsRules } from './rules/names-as-rules.js';
import { UnknownDomains } from './rules/unknown-domains.js';

/** Puts Envoy's services on one listener of the node. */
export class EnvoyDoor {
  readonly listener: GrpcListener;
  readonly quota: QuotaService;
  readonly rateLimits: RateLimitService;
  readonly kuadrant: KuadrantService;
  readonly #health: HealthService;

  /** @param given rules of the configuration; null = a descriptor is limited by the group or key that has its name */
  constructor(
    node: NodeParts,
    listen: ListenAddress,
    telemetry: Telemetry,
    access: Access,
    given: DescriptorRules | null = null,
  ) {
    const { clock, config, loop, life } = node;
    this.#health = new HealthService(SERVICES, () => loop.isReady && !life.isClosing);
    const reflection = new ReflectionService(['grpc.health.v1.Health', ...SERVICES]);
    const { enforcers, gate, groups } = node;
    const names = new NamesAsRules(limitedNames(node), clock);
    const rules = given ?? names;
    const setting = config.envoy.unknownDomain;
    const domains = new UnknownDomains({ rules, setting, clock, telemetry });
    const targets = { gate, groups, rules, domains };
    this.quota = new QuotaService({ enforcers, clock, targetOf: (domain, id) => bucketTarget(targets, domain, id) });
    const { limits, nodeId } = config;
    this.kuadrant = new KuadrantService({ rules, gate, clock, limits, nodeId });
    this.rateLimits = new RateLimitService({ node, rules, names, domains });
    const services = [this.#health, reflection, this.quota, this.kuadrant, this.rateLimits];
    const methods = services.flatMap((service) => service.methods);
    this.listener = new GrpcListener({ config: config.envoy, listen, access, clock, telemetry, methods });
  }

  /** Listens by configuration; resolves with the real URL. Throws ADDRESS_IN_USE. */
  async listen(): Promise<string> {
    return this.listener.listen();
  }

  /** Gives new connections the new certificate; TLS itself changes with a restart. */
  renewTls(tls: EnvoyConfig['tls']): void {
    this.listener.renewTls(tls);
  }

  /** Ends in order, while the node still answers. */
  async close(): Promise<void> {
    await this.#health.end();
    await this.listener.close();
    this.kuadrant.close();
  }
}

const SERVICES: readonly string[] = [QUOTA_SERVICE, KUADRANT_SERVICE, RATE_LIMIT_SERVICE];
