package io.quotamesh.pulsar;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** What broker.conf says, where a plugin may have keys of its own. A name of null stands for the broker's id. */
record Settings(String node, String token, String name, long isolationMs, boolean isNodeSource) {
  /** Told at run time, to all brokers at once: `pulsar-admin brokers update-dynamic-config`. */
  static final String QUIET = "quotameshQuiet";

  /** Three requests that are not answered fit into the time that a share lasts. */
  long timeoutMs() {
    return Math.min(1000, isolationMs / 3);
  }

  static Settings of(Properties conf) throws IOException {
    String node = conf.getProperty("quotameshNode");
    if (node == null) throw new IllegalArgumentException("quotameshNode is missing, as http://127.0.0.1:7070");
    if (!node.startsWith("http://") && !node.startsWith("unix:/")) {
      throw new IllegalArgumentException("quotameshNode must begin with http:// or unix:/, and is " + node);
    }
    String tokenFile = conf.getProperty("quotameshTokenFile");
    String token = tokenFile == null ? null : Files.readString(Path.of(tokenFile)).strip();
    String groups = conf.getProperty("quotameshGroups", "pulsar");
    if (!groups.equals("pulsar") && !groups.equals("node")) {
      throw new IllegalArgumentException("quotameshGroups must be pulsar or node, and is " + groups);
    }
    long isolationMs = Long.parseLong(conf.getProperty("quotameshIsolationMs", "3000"));
    if (isolationMs < 500 || isolationMs > 60_000) {
      throw new IllegalArgumentException("quotameshIsolationMs must be 500 to 60000, and is " + isolationMs);
    }
    return new Settings(node, token, conf.getProperty("quotameshName"), isolationMs, groups.equals("node"));
  }
}
