package io.quotamesh.pulsar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * HTTP/1.1 over TCP or a Unix socket, one request at a time, each with a deadline. The HTTP client of Java 17 has no
 * Unix sockets.
 */
final class NodeConnection implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final int HEAD_MAX = 16 * 1024;
  private static final int BODY_MAX = 4 * 1024 * 1024;

  private final SocketAddress address;
  private final String fields;
  private final ByteBuffer chunk = ByteBuffer.allocate(16 * 1024);
  private SocketChannel channel;

  NodeConnection(String node, String token) {
    boolean isUnix = node.startsWith("unix:");
    URI uri = isUnix ? null : URI.create(node);
    int port = isUnix || uri.getPort() == -1 ? 80 : uri.getPort();
    address = isUnix ? UnixDomainSocketAddress.of(node.substring(5)) : new InetSocketAddress(uri.getHost(), port);
    String host = isUnix ? "localhost" : uri.getAuthority();
    fields = "host: " + host + "\r\n" + (token == null ? "" : "authorization: Bearer " + token + "\r\n");
  }

  record Answer(int status, JsonNode body) {}

  Answer ask(String method, String path, JsonNode body, long timeoutMs) throws IOException {
    long deadlineNanos = System.nanoTime() + timeoutMs * 1_000_000;
    boolean isWhole = false;
    try {
      if (channel == null) open(deadlineNanos);
      write(method, path, body, deadlineNanos);
      Answer answer = read(deadlineNanos);
      isWhole = true;
      return answer;
    } finally {
      if (!isWhole) close();
    }
  }

  @Override
  public void close() {
    try {
      if (channel != null) channel.close();
    } catch (IOException ignored) {
      // Nothing of it is used again.
    }
    channel = null;
  }

  private void open(long deadlineNanos) throws IOException {
    boolean isUnix = address instanceof UnixDomainSocketAddress;
    channel = isUnix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
    channel.configureBlocking(false);
    boolean isOpen = channel.connect(address);
    while (!isOpen) {
      await(deadlineNanos);
      isOpen = channel.finishConnect();
    }
  }

  private void write(String method, String path, JsonNode body, long deadlineNanos) throws IOException {
    byte[] content = body == null ? new byte[0] : JSON.writeValueAsBytes(body);
    String type = body == null ? "" : "content-type: application/json\r\ncontent-length: " + content.length + "\r\n";
    byte[] head = (method + " " + path + " HTTP/1.1\r\n" + fields + type + "\r\n").getBytes(StandardCharsets.US_ASCII);
    for (ByteBuffer part : new ByteBuffer[] {ByteBuffer.wrap(head), ByteBuffer.wrap(content)}) {
      while (part.hasRemaining()) {
        if (channel.write(part) == 0) await(deadlineNanos);
      }
    }
  }

  private Answer read(long deadlineNanos) throws IOException {
    var got = new ByteArrayOutputStream();
    int headEnd = -1;
    while (headEnd < 0) {
      if (got.size() > HEAD_MAX) throw new IOException("an answer's head of more than " + HEAD_MAX + " bytes");
      more(got, deadlineNanos);
      headEnd = got.toString(StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
    }
    String[] lines = got.toString(StandardCharsets.ISO_8859_1).substring(0, headEnd).split("\r\n");
    if (!lines[0].matches("HTTP/1\\.1 \\d{3}.*")) throw new IOException("no HTTP answer");
    int status = Integer.parseInt(lines[0].substring(9, 12));
    int length = status == 204 ? 0 : length(lines);
    int end = headEnd + 4 + length;
    while (got.size() < end) more(got, deadlineNanos);
    JsonNode body = length == 0 ? MissingNode.getInstance() : JSON.readTree(got.toByteArray(), headEnd + 4, length);
    return new Answer(status, body);
  }

  private static int length(String[] lines) throws IOException {
    for (String line : lines) {
      String[] field = line.toLowerCase(Locale.ROOT).split(":", 2);
      if (!field[0].equals("content-length")) continue;
      String value = field[1].strip();
      if (!value.matches("\\d{1,9}") || Integer.parseInt(value) > BODY_MAX) break;
      return Integer.parseInt(value);
    }
    throw new IOException("an answer without a content-length of at most " + BODY_MAX);
  }

  private void more(ByteArrayOutputStream got, long deadlineNanos) throws IOException {
    chunk.clear();
    int count;
    while ((count = channel.read(chunk)) == 0) await(deadlineNanos);
    if (count < 0) throw new IOException("the node has closed the connection");
    got.write(chunk.array(), 0, count);
  }

  /** An answer takes some milliseconds, and looking for it costs some microseconds. */
  private static void await(long deadlineNanos) throws IOException {
    if (System.nanoTime() - deadlineNanos >= 0) throw new SocketTimeoutException("no answer in time");
    LockSupport.parkNanos(1_000_000);
    if (Thread.currentThread().isInterrupted()) throw new InterruptedIOException();
  }
}
