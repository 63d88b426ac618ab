import type { ReportTopicListener } from '../../../src/base/ports/report-topic.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';

/** Cannot be reached until `come` is called, and delivers `delayMs` later than it is written. */
export class AwayTopic extends MemoryTopic {
  /** 0 = at once. */
  delayMs = 0;
  come: () => void = () => undefined;
  /** As after a broken connection; a topic that was closed says nothing. */
  comeAgain: () => void = () => undefined;
  readonly #here = new Promise<void>((resolve) => {
    this.come = resolve;
  });

  override async open(listener: ReportTopicListener): Promise<void> {
    listener.onLost('connection refused');
    await this.#here;
    listener.onRecovered();
    this.comeAgain = () => listener.onRecovered();
    const { delayMs } = this;
    const later = (call: () => void) => (delayMs === 0 ? call() : void setTimeout(call, delayMs));
    await super.open({
      onEpoch: (epoch) => later(() => listener.onEpoch(epoch)),
      onRecords: (records) => later(() => listener.onRecords(records)),
      onCaughtUp: () => later(() => listener.onCaughtUp()),
      onLost: (reason) => listener.onLost(reason),
      onRecovered: () => listener.onRecovered(),
      onFailed: (error) => listener.onFailed(error),
    });
  }

  override close(): Promise<void> {
    this.comeAgain = () => undefined;
    return super.close();
  }
}
