package io.quotamesh.pulsar;

import org.apache.pulsar.common.util.SimpleTextOutputStream;

/** Lines of the broker's own page of metrics. */
record Metrics(Enforcer enforcer, Talk talk) {
  void generate(SimpleTextOutputStream page) {
    line(page, "node_answers_total", "", talk.answered);
    line(page, "node_failures_total", "", talk.failed);
    if (talk.answered > 0) line(page, "node_silent_seconds", "", (System.nanoTime() - talk.answeredNanos) / 1e9);
    line(page, "brokers_alive", "", enforcer.brokersAlive);
    line(page, "quiet", "", enforcer.isQuiet || enforcer.isBroken ? 1 : 0);
    line(page, "round_seconds", "", enforcer.walkTookNanos / 1e9);
    for (Group group : enforcer.groups.values()) {
      String name = "resource_group=\"" + group.name.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
      PublishLimit publishLimit = group.publishLimit;
      if (publishLimit != null) {
        line(page, "limiter_writes_total", name, publishLimit.writes);
        line(page, "limiter_overwritten_total", name, publishLimit.overwritten);
      }
      for (Lane lane : group.lanes()) {
        Limit limit = lane.limit;
        if (limit == null) continue;
        String labels = name + ",direction=\"" + lane.direction + "\"";
        line(page, "alone", labels, lane.isAlone && !limit.isUnlimited() ? 1 : 0);
        line(page, "held_back", labels, lane.heldBack.isSo ? 1 : 0);
        line(page, "admitted_messages_total", labels, lane.admitted[Limit.MESSAGES]);
        line(page, "admitted_bytes_total", labels, lane.admitted[Limit.BYTES]);
        line(page, "share_messages_per_second", labels, limit.rate()[Limit.MESSAGES]);
        line(page, "share_bytes_per_second", labels, limit.rate()[Limit.BYTES]);
      }
    }
  }

  private static void line(SimpleTextOutputStream page, String name, String labels, double value) {
    String text = value == Limit.UNLIMITED ? "+Inf" : Double.toString(value);
    page.write("pulsar_quotamesh_" + name + (labels.isEmpty() ? "" : "{" + labels + "}") + " " + text + "\n");
  }
}
