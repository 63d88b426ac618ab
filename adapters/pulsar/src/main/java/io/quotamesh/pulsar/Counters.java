package io.quotamesh.pulsar;

import org.apache.pulsar.broker.service.AbstractTopic;

/** What a topic has counted. One that is loaded again is another object, from 0 on. */
record Counters(long messagesIn, long bytesIn, long messagesOut, long bytesOut, long throttled) {
  static final Counters NONE = new Counters(0, 0, 0, 0, 0);

  static Counters of(AbstractTopic topic) {
    return new Counters(topic.getMsgInCounter(), topic.getBytesInCounter(), topic.getMsgOutCounter(),
        topic.getBytesOutCounter(), topic.getTotalPublishRateLimitCounter());
  }

  Counters since(Counters before) {
    return new Counters(messagesIn - before.messagesIn, bytesIn - before.bytesIn, messagesOut - before.messagesOut,
        bytesOut - before.bytesOut, throttled - before.throttled);
  }
}
