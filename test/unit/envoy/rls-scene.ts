import { Access } from '../../../src/base/access/access.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import type { ListenAddress } from '../../../src/config/resolved/resolved-config.js';
import { EnvoyDoor } from '../../../src/doors/envoy/envoy-door.js';
import { envoy } from '../../../src/doors/envoy/generated/messages.js';
import { startParts } from '../../../src/node/loop/start-node.js';
import { prepareWholeNode, type WholeNode } from '../../whole-node.js';
import { type Ended, GrpcClient } from './grpc-client.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
export type Answer = envoy.service.ratelimit.v3.RateLimitResponse;

export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** One entry per key; what is no text is a field of the descriptor itself. */
export type Descriptor = Readonly<Record<string, string>>;

interface More {
  readonly hitsAddend?: number;
  /** Fields beside the entries, by the number of the descriptor. */
  readonly beside?: readonly object[];
}

/** A node with the door, asked over gRPC. */
export interface RlsScene {
  readonly node: WholeNode;
  readonly door: EnvoyDoor;
  readonly client: GrpcClient;
  /** Asks with the status of gRPC. */
  tell(domain: string, descriptors: readonly Descriptor[], more?: More): Promise<Ended>;
  ask(domain: string, descriptors: readonly Descriptor[], more?: More): Promise<Answer>;
  /** `OK 9` or `OVER_LIMIT 0`: what is left of each. */
  short(domain: string, descriptors: readonly Descriptor[], more?: More): Promise<string>;
  close(): Promise<void>;
}

let scenes = 0;

/** @param raw groups, keys, settings of envoy */
export async function rlsScene(raw: object, isStarted = true): Promise<RlsScene> {
  const { envoy: settings = {}, ...others } = raw as { envoy?: object };
  const own = { cluster: `rls-${process.pid}-${scenes++}`, node: 'a', topic: 'memory' };
  const node = await prepareWholeNode({
    config: { ...own, ...others, envoy: { listen: '127.0.0.1:0', ...settings } },
  });
  const access = new Access(null, node.clock, silentTelemetry);
  const door = new EnvoyDoor(node, node.config.envoy.listen as ListenAddress, silentTelemetry, access);
  const client = await GrpcClient.open(await door.listen());
  if (isStarted) await startParts(node);
  const tell: RlsScene['tell'] = (domain, descriptors, { hitsAddend = 0, beside = [] } = {}) => {
    const all = descriptors.map((entries, at) => {
      return { entries: Object.entries(entries).map(([key, value]) => ({ key, value })), ...beside[at] };
    });
    return client.ask(
      SHOULD_RATE_LIMIT,
      RateLimitRequest.encode({ domain, descriptors: all as object[], hitsAddend }).finish(),
    );
  };
  const ask: RlsScene['ask'] = async (...asked) => {
    const { status, text, messages } = await tell(...asked);
    if (status !== 0 || messages[0] === undefined) throw new Error(`status ${status}: ${text}`);
    return RateLimitResponse.decode(messages[0]);
  };
  return {
    node,
    door,
    client,
    tell,
    ask,
    short: async (...asked) => {
      const { overallCode, statuses } = await ask(...asked);
      return [nameOf(overallCode), ...statuses.map(({ limitRemaining }) => limitRemaining)].join(' ');
    },
    close: async () => {
      await client.close();
      await door.close();
      await node.close();
    },
  };
}

export function nameOf(code: number | null | undefined): string {
  return RateLimitResponse.Code[code ?? 0] as string;
}
