package io.quotamesh.pulsar;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/**
 * Load URL batching|single BYTES TOPIC…: a producer per topic, of Pulsar's own client.
 *
 * Lines of its input: rates of the topics in messages per second (−1 = all it can), or `consume N`. Every 100 ms it
 * prints the time, acknowledged messages per topic, consumed ones per topic, and the 99th percentile of the time
 * until the acknowledgement, in µs, of the last second.
 */
public final class Load {
  /** What a client still sends when it wants less: a tenth of a second at the quotas of the tests. */
  private static final int PENDING_MAX = 100;
  private static final int SAMPLES = 1 << 14;

  public static void main(String[] args) throws Exception {
    var client = PulsarClient.builder().serviceUrl(args[0]).ioThreads(1).connectionsPerBroker(1).build();
    int count = args.length - 3;
    var rates = new AtomicLongArray(count);
    var acknowledged = new AtomicLongArray(count);
    var consumed = new AtomicLongArray(count);
    var samples = new AtomicLongArray(SAMPLES);
    var sampled = new AtomicLong();
    for (int at = 0; at < count; at++) {
      int topic = at;
      var producer = client.newProducer().topic(args[3 + at]).enableBatching(args[1].equals("batching"))
          .maxPendingMessages(PENDING_MAX).blockIfQueueFull(true).sendTimeout(0, TimeUnit.SECONDS).create();
      var body = new byte[Integer.parseInt(args[2])];
      Runnable send = () -> {
        long sentNanos = System.nanoTime();
        producer.sendAsync(body).thenAccept(id -> {
          acknowledged.incrementAndGet(topic);
          samples.set((int) (sampled.getAndIncrement() % SAMPLES), System.nanoTime() - sentNanos);
        });
      };
      daemon(() -> produce(send, rates, topic));
    }
    daemon(() -> read(client, args, rates, consumed));
    while (true) {
      var line = new StringBuilder().append(System.currentTimeMillis());
      for (int at = 0; at < count; at++) line.append(' ').append(acknowledged.get(at));
      for (int at = 0; at < count; at++) line.append(' ').append(consumed.get(at));
      System.out.println(line.append(' ').append(percentile(samples, sampled)));
      Thread.sleep(100);
    }
  }

  private static long percentile(AtomicLongArray samples, AtomicLong sampled) {
    int count = (int) Math.min(SAMPLES, sampled.get());
    if (count == 0) return 0;
    var sorted = new long[count];
    for (int at = 0; at < count; at++) sorted[at] = samples.get(at);
    java.util.Arrays.sort(sorted);
    return sorted[count * 99 / 100] / 1000;
  }

  private static void produce(Runnable send, AtomicLongArray rates, int topic) {
    double credit = 0;
    long lastNanos = System.nanoTime();
    try {
      while (true) {
        long nowNanos = System.nanoTime();
        long rate = rates.get(topic);
        credit = Math.min(credit + (nowNanos - lastNanos) / 1e9 * rate, Math.max(1, rate / 10.0));
        lastNanos = nowNanos;
        if (rate < 0) {
          credit = 0;
          send.run();
        } else if (credit >= 1) {
          credit -= 1;
          send.run();
        } else {
          Thread.sleep(2);
        }
      }
    } catch (InterruptedException end) {
      // The process ends.
    }
  }

  private static void read(PulsarClient client, String[] args, AtomicLongArray rates, AtomicLongArray consumed) {
    try (var in = new BufferedReader(new InputStreamReader(System.in))) {
      for (String line; (line = in.readLine()) != null;) {
        String[] words = line.strip().split(" ");
        if (words[0].equals("consume")) {
          int topic = Integer.parseInt(words[1]);
          consume(client, args[3 + topic], () -> consumed.incrementAndGet(topic));
        } else {
          for (int at = 0; at < words.length; at++) rates.set(at, Long.parseLong(words[at]));
        }
      }
    } catch (Exception failure) {
      failure.printStackTrace();
    }
    System.exit(0);
  }

  private static void consume(PulsarClient client, String topic, Runnable count) throws PulsarClientException {
    client.newConsumer().topic(topic).subscriptionName("load").subscriptionType(SubscriptionType.Shared)
        .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
        .messageListener((consumer, message) -> {
          count.run();
          consumer.acknowledgeAsync(message);
        }).subscribe();
  }

  private static void daemon(Runnable task) {
    var thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
  }
}
