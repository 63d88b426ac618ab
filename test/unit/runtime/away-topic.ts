import type { ReportTopicListener } from '../../../src/ports/report-topic.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';

/** A topic that cannot be reached until `come` is called. */
export class AwayTopic extends MemoryTopic {
  come: () => void = () => undefined;
  readonly #here = new Promise<void>((resolve) => {
    this.come = resolve;
  });

  override async open(listener: ReportTopicListener): Promise<void> {
    listener.onLost('connection refused');
    await this.#here;
    listener.onRecovered();
    await super.open(listener);
  }
}
