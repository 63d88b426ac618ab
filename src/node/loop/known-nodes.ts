import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { isMapping } from '../../base/input/mapping.js';
import type { Telemetry } from '../../base/ports/telemetry.js';

/** Knowledge of the cluster when the topic was last read. */
interface KnownNodes {
  readonly nodes: number;
  readonly partitions: number;
}

/**
 * Keeps the cluster's size in a file, to start without the topic. A smaller number counts after ten minutes: nodes
 * stopped one by one would write 3, 2, 1, and start with 1.83 quotas.
 */
export class KnownNodesFile {
  readonly #path: string;
  readonly #cluster: string;
  readonly #telemetry: Telemetry;
  #kept: KnownNodes | null;
  /** Largest number since `#fewerSinceMs`, while below the kept one. */
  #fewer = 0;
  #fewerSinceMs: number | null = null;
  #isWriting = false;
  #hasFailed = false;

  constructor(path: string, cluster: string, telemetry: Telemetry) {
    this.#path = path;
    this.#cluster = cluster;
    this.#telemetry = telemetry;
    this.#kept = this.#read();
  }

  /** Null = no such line, or another cluster's. */
  get kept(): KnownNodes | null {
    return this.#kept;
  }

  /** Notes the size while the topic is read. */
  seen({ nodes, partitions }: KnownNodes, nowMs: number): void {
    const kept = this.#kept;
    if (kept === null || nodes > kept.nodes || partitions !== kept.partitions) {
      this.#fewerSinceMs = null;
      this.#keep({ nodes: Math.max(nodes, kept?.nodes ?? 0), partitions });
    } else if (nodes === kept.nodes) this.#fewerSinceMs = null;
    else if (this.#fewerSinceMs === null) [this.#fewer, this.#fewerSinceMs] = [nodes, nowMs];
    else {
      this.#fewer = Math.max(this.#fewer, nodes);
      if (nowMs - this.#fewerSinceMs < BELIEVED_AFTER_MS) return;
      this.#fewerSinceMs = null;
      this.#keep({ nodes: this.#fewer, partitions });
    }
  }

  #keep(known: KnownNodes): void {
    if (this.#isWriting) return;
    this.#kept = known;
    this.#isWriting = true;
    void this.#write(known).finally(() => {
      this.#isWriting = false;
    });
  }

  async #write(known: KnownNodes): Promise<void> {
    const next = `${this.#path}.next`;
    try {
      await writeFile(next, `${JSON.stringify({ cluster: this.#cluster, ...known })}\n`, { mode: 0o600 });
      await rename(next, this.#path);
    } catch (error) {
      if (!this.#hasFailed) this.#tell('start.file cannot be written', error as Error);
      this.#hasFailed = true;
    }
  }

  #read(): KnownNodes | null {
    try {
      const said: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      if (!isMapping(said) || said.cluster !== this.#cluster) return null;
      const { nodes, partitions } = said;
      return isCount(nodes) && isCount(partitions) ? { nodes, partitions } : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#tell('start.file cannot be read', error as Error);
      return null;
    }
  }

  #tell(text: string, { message }: Error): void {
    this.#telemetry.log('warn', text, { file: this.#path, reason: message });
  }
}

const BELIEVED_AFTER_MS = 600_000;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
