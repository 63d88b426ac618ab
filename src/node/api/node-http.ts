import type { IncomingMessage, ServerResponse } from 'node:http';

/** Serves a node's HTTP inside a service: live page, API, metrics, health. */
export interface NodeHttp {
  /** Address `http://127.0.0.1:7070` or `unix:/path`; null with `http: 'handler'`. */
  readonly url: string | null;
  /**
   * Answers a request of the service's server, whose `url` lacks the path of the mount (docs/guide/embedding.md).
   * Express does so: `app.use('/quotas', node.http.handler)`.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
}
