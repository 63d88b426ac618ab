import { randomBytes } from 'node:crypto';
import { TopicUnusable } from '../remote/topic-unusable.js';
import { RedisConnection } from './redis-connection.js';
import { isAnswer, redisUnusable } from './redis-failure.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import { APPEND, OPEN, RESTORE, rehearsal } from './scripts.js';

const SCRIPTS = { OPEN, APPEND, RESTORE };

/** State of the log at its opening. */
export interface OpenedLog {
  readonly epoch: string;
  /** Newest offset given; its record may be missing. */
  readonly offset: number;
  /** Milliseconds of Redis's clock since the epoch began; negative = it was moved back. */
  readonly ageMs: number;
}

/** Holds two connections to a master: waiting reads must not hold up appends. A failure ends both. */
export class TopicLink {
  readonly #options: RedisTopicOptions;
  readonly #reading: RedisConnection;
  readonly #writing: RedisConnection;
  readonly #scripts = new Map<string, string>();
  #runId = '';

  constructor(options: RedisTopicOptions) {
    this.#options = options;
    this.#reading = new RedisConnection(options);
    this.#writing = new RedisConnection(options);
  }

  async connect(): Promise<void> {
    const runIds = await Promise.all([this.#reading, this.#writing].map((each) => this.#prepare(each)));
    if (runIds[0] !== runIds[1]) throw new Error('the master has changed while connecting');
    this.#runId = String(runIds[0]);
    for (const [name, text] of Object.entries(SCRIPTS)) {
      this.#scripts.set(name, String(await this.#writing.send('SCRIPT', ['LOAD', text])));
    }
    await this.#rehearse();
  }

  /** Fails by the first command that would never be answered. */
  async #rehearse(): Promise<void> {
    const { keys, topic } = this.#options;
    const tries = [...rehearsal(keys), ['EVALSHA', '0'.repeat(40), 0] as const];
    const answers = tries.map(async ([command, ...args]) => {
      await this.#reading.send(command, args).catch((error: unknown) => {
        if (!isAnswer(error) || redisUnusable(error, topic) !== null) throw error;
      });
    });
    await Promise.all(answers);
  }

  /** Rejects when either connection has ended. */
  get ended(): Promise<never> {
    return Promise.race([this.#reading.ended, this.#writing.ended]);
  }

  /** Opens the log. @param readOffset offset that this node has read */
  async open(readOffset: number): Promise<OpenedLog> {
    const candidate = randomBytes(9).toString('base64url');
    const [epoch, offset, ageMs] = (await this.#run('OPEN', [this.#runId, candidate, readOffset])) as Buffer[];
    return { epoch: String(epoch), offset: Number(offset), ageMs: Number(ageMs) };
  }

  /** @param args as in scripts.ts */
  async append(args: readonly (string | number | Buffer)[]): Promise<void> {
    await this.#run('APPEND', args);
  }

  async restore(args: readonly (string | number | Buffer)[]): Promise<number> {
    return Number(await this.#run('RESTORE', args));
  }

  async read(command: string, args: readonly (string | number | Buffer)[], holdBackMs = 0): Promise<unknown> {
    return this.#reading.send(command, args, holdBackMs);
  }

  destroy(reason: Error): void {
    this.#reading.destroy(reason);
    this.#writing.destroy(reason);
  }

  #run(script: string, args: readonly (string | number | Buffer)[]): Promise<unknown> {
    const { log, newest, meta } = this.#options.keys;
    return this.#writing.send('EVALSHA', [this.#scripts.get(script)!, 3, log, newest, meta, ...args]);
  }

  /** Returns the run id of the server, new with every start. */
  async #prepare(connection: RedisConnection): Promise<string> {
    const { username, password, db } = this.#options;
    await connection.connect();
    if (password !== null) await connection.send('AUTH', username === null ? [password] : [username, password]);
    if (db !== 0) await connection.send('SELECT', [db]);
    const info = String(await connection.send('INFO', [])).split(/\r?\n/);
    const fact = (name: string) => info.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
    if (fact('loading') === '1') throw new Error('Redis is still reading its data from the disk');
    if (fact('redis_mode') === 'cluster') {
      const reason = 'this is a Redis Cluster, whose shards would tear the log apart; take a Redis that is none';
      throw new TopicUnusable('TOPIC_SETTINGS', { topic: this.#options.topic, reason });
    }
    if (fact('role') !== 'master') throw new Error('this Redis is a replica; name the master, or use topic.sentinel');
    return fact('run_id') ?? '';
  }
}
