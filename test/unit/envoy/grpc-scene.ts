import { Access } from '../../../src/base/access/access.js';
import type { AccessConfig } from '../../../src/base/access/access-config.js';
import { monotonicClock } from '../../../src/base/ports/clock.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ListenAddress } from '../../../src/config/resolved/resolved-config.js';
import { GrpcListener } from '../../../src/doors/envoy/grpc/grpc-listener.js';
import type { GrpcMethod, MessageStream } from '../../../src/doors/envoy/grpc/grpc-method.js';

/** A listener with methods of its own: one that answers what it was sent, and a stream that does. */
export interface GrpcScene {
  readonly listener: GrpcListener;
  readonly access: Access;
  readonly url: string;
  readonly streams: MessageStream[];
  /** Requests that came, and their callers. */
  readonly asked: string[];
  readonly closed: number[];
  takeAuth(auth: object): void;
}

export const ECHO = '/test.Echo/Unary';
export const ECHO_STREAM = '/test.Echo/Stream';
export const MAX_REQUEST_BYTES = 1000;

const BASE = { cluster: 'grpc', node: 'a', topic: 'memory' };

/** @param constants of `envoy` */
export async function grpcScene(
  raw: { readonly auth?: object; readonly envoy?: object } = {},
  constants: object = {},
  more: readonly GrpcMethod[] = [],
): Promise<GrpcScene> {
  const settings = { ...BASE, ...raw, envoy: { listen: '127.0.0.1:0', ...raw.envoy } };
  const config = resolveConfig(settings, { source: '(test)', constants: { envoy: constants } });
  const access = new Access(config.auth, monotonicClock, silentTelemetry);
  const [streams, asked, closed]: [MessageStream[], string[], number[]] = [[], [], []];
  const limits = { needs: 'traffic', maxRequestBytes: MAX_REQUEST_BYTES } as const;
  const listener = new GrpcListener({
    config: config.envoy,
    listen: config.envoy.listen as ListenAddress,
    access,
    clock: monotonicClock,
    telemetry: silentTelemetry,
    methods: [
      {
        ...limits,
        kind: 'unary',
        path: ECHO,
        answer: (request, { caller }) => {
          asked.push(`${caller?.name ?? 'anybody'}: ${Buffer.from(request).toString()}`);
          if (request.length === 0) throw new Error('a defect');
          return Buffer.from(request);
        },
      },
      {
        ...limits,
        kind: 'stream',
        path: ECHO_STREAM,
        open: (stream) => {
          const number = streams.push(stream) - 1;
          return {
            message: (bytes) => stream.send(Buffer.from(bytes)),
            ended: () => stream.end(),
            closed: () => closed.push(number),
          };
        },
      },
      ...more,
    ],
  });
  const url = await listener.listen();
  const takeAuth = (auth: object) => {
    access.take(resolveConfig({ ...settings, auth }, { source: '(test)' }).auth as AccessConfig);
  };
  return { listener, access, url, streams, asked, closed, takeAuth };
}
