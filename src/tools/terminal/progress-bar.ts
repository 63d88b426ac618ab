const WIDTH = 30;
const REDRAW_MS = 100;

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  #drawnMs = 0;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** @param part 0 … 1 */
  show(part: number, says: string): void {
    if (!this.#stream.isTTY || Date.now() - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = Date.now();
    this.#isDrawn = true;
    const full = Math.round(WIDTH * part);
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full);
    this.#stream.write(`\r\x1b[K${bar} ${Math.round(100 * part)} % ${says}`);
  }

  clear(): void {
    if (this.#isDrawn) this.#stream.write('\r\x1b[K');
    this.#isDrawn = false;
  }
}
