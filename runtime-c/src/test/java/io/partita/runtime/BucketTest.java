package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests {@code bucket.h} with times that the tests give. */
@ExtendWith(WithCompiler.class)
class BucketTest {
  private record Message(long time, long bytes) {}

  /** Returns when each message has left, in nanoseconds. */
  private static long[] left(CCompiler compiler, long bytesPerSecond, List<Message> messages)
      throws IOException, InterruptedException {
    StringJoiner text = new StringJoiner(" ", bytesPerSecond + " " + messages.size() + " ", "\n");
    messages.forEach(message -> text.add(message.time() + " " + message.bytes()));
    Process process =
        new ProcessBuilder(
                compiler
                    .executable(
                        "bucket_test.exe",
                        CCompiler.Build.SANITISED,
                        List.of(CCompiler.MODULE.resolve("src/test/c/bucket_test.c")))
                    .toString())
            .start();
    try (OutputStream out = process.getOutputStream()) {
      out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    }
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    assertThat(process.waitFor()).isZero();
    return Arrays.stream(answer.strip().split(" ")).mapToLong(Long::parseLong).toArray();
  }

  @Test
  void messagesShareTheBandwidthInTheirOrder(CCompiler compiler) throws Exception {
    List<Message> messages =
        List.of(new Message(0, 500), new Message(0, 250), new Message(2_000_000_000L, 100));
    // 1000 B/s; the last message finds the bucket idle.
    assertThat(left(compiler, 1000, messages))
        .containsExactly(500_000_000L, 750_000_000L, 2_100_000_000L);
  }

  /** 196,608 bytes, a quarter of the tokens of a layer, at 10 Mbps, to three others. */
  @Test
  void largeMessagesTakeTheTimeOfTheirBytes(CCompiler compiler) throws Exception {
    Message part = new Message(7, 196_608);
    assertThat(left(compiler, 1_250_000, List.of(part, part, part)))
        .containsExactly(157_286_407L, 314_572_807L, 471_859_207L);
    Message largest = new Message(0, 0xFFFF_FFFFL);
    assertThat(left(compiler, 1_000_000_000, List.of(largest))).containsExactly(0xFFFF_FFFFL);
  }

  @Test
  void withoutABandwidthMessagesTakeNoTime(CCompiler compiler) throws Exception {
    assertThat(left(compiler, 0, List.of(new Message(5, 1 << 20), new Message(9, 1 << 20))))
        .containsExactly(5, 9);
  }

  @Test
  void noMessageTakesMoreThanTheBandwidth(CCompiler compiler) throws Exception {
    RandomGenerator random = new SplittableRandom(1);
    List<Message> messages = new ArrayList<>();
    long time = 0;
    for (int i = 0; i < 200; i++) {
      time += random.nextInt(1_000_000);
      messages.add(new Message(time, random.nextInt(1000)));
    }
    long[] left = left(compiler, 1_000_000, messages);
    for (int i = 0; i < left.length; i++) {
      long start = Math.max(messages.get(i).time(), i == 0 ? 0 : left[i - 1]);
      assertThat(left[i]).isEqualTo(start + 1000 * messages.get(i).bytes());
    }
  }
}
