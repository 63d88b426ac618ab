import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { envoy, ratelimit } from '../../../../src/doors/envoy/generated/messages.js';
import { framed, MessageReader } from '../../../../src/doors/envoy/grpc/message-reader.js';

const { DiscoveryRequest, DiscoveryResponse } = envoy.service.discovery.v3;
const { RateLimitConfig } = ratelimit.config.ratelimit.v3;
type Asked = ReturnType<typeof DiscoveryRequest.decode>;
type Config = ratelimit.config.ratelimit.v3.RateLimitConfig.$Properties;

export const TYPE_URL = 'type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig';

interface Tls {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

/** A management server as go-control-plane's: what clients ask, and responses when the test says so. */
export class ManagementServer {
  readonly asked: Asked[] = [];
  readonly paths: string[] = [];
  /** Answered with status 12 of gRPC. */
  unimplemented: readonly string[] = [];
  readonly #server: Http2Server;
  readonly #streams = new Set<ServerHttp2Stream>();
  readonly #tls: Tls | null;

  constructor(tls: Tls | null = null) {
    this.#tls = tls;
    const options = { ...tls, requestCert: true, rejectUnauthorized: true };
    this.#server = tls === null ? createServer() : createSecureServer(options);
    this.#server.on('stream', (stream, headers) => this.#serve(stream, String(headers[':path'])));
    this.#server.on('session', (session) => session.on('error', () => undefined));
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this.url;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http${this.#tls === null ? '' : 's'}://127.0.0.1:${port}`;
  }

  /** Sends all rules to every client. */
  send(version: string, configs: readonly Config[]): void {
    this.sendRaw(
      version,
      configs.map((config) => RateLimitConfig.encode(config).finish()),
    );
  }

  sendRaw(version: string, resources: readonly Uint8Array[], typeUrl = TYPE_URL): void {
    const packed = resources.map((value) => ({ type_url: TYPE_URL, value }));
    const response = { versionInfo: version, nonce: `n${version}`, typeUrl, resources: packed };
    for (const stream of this.#streams) stream.write(framed(DiscoveryResponse.encode(response).finish()));
  }

  /** Waits for the request with this number, counted from 1. */
  async request(number: number): Promise<Asked> {
    while (this.asked[number - 1] === undefined) await sleep(5);
    return this.asked[number - 1] as Asked;
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.session?.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(stream: ServerHttp2Stream, path: string): void {
    this.paths.push(path);
    stream.on('error', () => undefined);
    if (this.unimplemented.includes(path)) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    this.#streams.add(stream);
    stream.on('close', () => this.#streams.delete(stream));
    const reader = new MessageReader(1e6, { bytes: 0, max: 1e6 }, (bytes) => {
      this.asked.push(DiscoveryRequest.decode(bytes));
    });
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
  }
}
