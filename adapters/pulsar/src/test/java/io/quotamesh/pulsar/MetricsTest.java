package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.apache.pulsar.common.util.SimpleTextOutputStream;
import org.junit.jupiter.api.Test;

class MetricsTest {
  @Test
  void noNameOfAGroupBreaksThePageOfTheBroker() throws Exception {
    var conf = new Properties();
    conf.setProperty("quotameshNode", "unix:/n");
    var settings = Settings.of(conf);
    var enforcer = new Enforcer(null, settings);
    var group = new Group("a\"b\\c\nd", false, limiter -> {});
    group.publish.look(0, new double[] {1000, Limit.UNLIMITED}, 2);
    enforcer.groups.put(group.name, group);
    var page = Unpooled.buffer();
    new Metrics(enforcer, new Talk(settings, enforcer, null, 0)).generate(new SimpleTextOutputStream(page));
    String labels = "{resource_group=\"a\\\"b\\\\c\\nd\",direction=\"publish\"}";
    var lines = page.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains("share")).toList();
    assertEquals("pulsar_quotamesh_share_messages_per_second" + labels + " 500.0", lines.get(0));
    assertEquals("pulsar_quotamesh_share_bytes_per_second" + labels + " +Inf", lines.get(1));
  }
}
