package io.quotamesh.pulsar;

import org.apache.pulsar.common.util.SimpleTextOutputStream;

/** Lines of the broker's own page of metrics. */
final class Metrics {
  private static final String[] DIRECTIONS = {"publish", "dispatch"};
  private static final String[] UNITS = {"messages", "bytes"};

  private final Enforcer enforcer;
  private final Talk talk;

  Metrics(Enforcer enforcer, Talk talk) {
    this.enforcer = enforcer;
    this.talk = talk;
  }

  void generate(SimpleTextOutputStream page) {
    line(page, "node_answers_total", "", talk.answered);
    line(page, "node_failures_total", "", talk.failed);
    if (talk.answered > 0) line(page, "node_silent_seconds", "", (System.nanoTime() - talk.answeredNanos) / 1e9);
    line(page, "brokers_alive", "", enforcer.brokersAlive);
    line(page, "quiet", "", enforcer.isQuiet || enforcer.isBroken ? 1 : 0);
    line(page, "round_seconds", "", enforcer.walkTookNanos / 1e9);
    for (Group group : enforcer.groups.values()) {
      String name = "resource_group=\"" + group.name.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
      line(page, "limiter_writes_total", name, group.writes()[0]);
      line(page, "limiter_overwritten_total", name, group.writes()[1]);
      for (int direction = 0; direction < 2; direction++) {
        Limit limit = group.limits[direction];
        if (limit == null) continue;
        String labels = name + ",direction=\"" + DIRECTIONS[direction] + "\"";
        boolean isAlone = group.shares[direction].isAlone() && !limit.isUnlimited();
        line(page, "alone", labels, isAlone ? 1 : 0);
        line(page, "held_back", labels, group.lane(direction).isHeldBack() ? 1 : 0);
        for (int unit = 0; unit < 2; unit++) {
          line(page, "admitted_" + UNITS[unit] + "_total", labels, group.admitted[direction][unit]);
          line(page, "share_" + UNITS[unit] + "_per_second", labels, limit.rate()[unit]);
        }
      }
    }
  }

  private static void line(SimpleTextOutputStream page, String name, String labels, double value) {
    String text = value == Limit.UNLIMITED ? "+Inf" : Double.toString(value);
    page.write("pulsar_quotamesh_" + name + (labels.isEmpty() ? "" : "{" + labels + "}") + " " + text + "\n");
  }
}
