package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Programs that test the contract of {@code hal.h}, and their inputs. */
final class HalPrograms {
  private HalPrograms() {}

  /** {@code hal_test.c}, or another test's program. */
  static List<Path> source(String name) {
    return List.of(CCompiler.MODULE.resolve("src/test/c").resolve(name));
  }

  /** 0, 1, 2 ... as L3 of {@code hal_test.c}. */
  static Path image(Path folder) {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    try {
      return Files.write(folder.resolve("l3"), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the data that each of at most four chips copies to its output. */
  static List<byte[]> copied(int chips) {
    return Stream.of("", "chip 1", "chip two.", "chip 3")
        .map(String::getBytes)
        .limit(chips)
        .toList();
  }

  /** Returns the inputs of {@code hal_test.c} with a minimum of cycles for messages. */
  static List<byte[]> inputs(int leastCycles, List<byte[]> copied) {
    return copied.stream().map(bytes -> input(leastCycles, bytes)).toList();
  }

  static byte[] input(int number, byte... rest) {
    return ByteBuffer.allocate(4 + rest.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(number)
        .put(rest)
        .array();
  }

  /**
   * A pattern of the report of {@code hal_test.c}, which loads 1932 bytes and stores 102, and moves
   * 192 of L3.
   */
  static String report(int chip, String received, String sent) {
    return "\\{\"chip\": %d, \"cycles\": [0-9]+, \"l2_l1\": 2034, \"l3_l2\": 192, ".formatted(chip)
        + "\"received\": %s, \"sent\": %s[^}]*}\n".formatted(received, sent);
  }

  /** The errors of {@code misuse.c}, in order. */
  enum Misuse {
    TOO_LONG_A_TRANSFER("a transfer exceeds the size limit"),
    SECOND_WAIT("a wait for a transfer that isn't in progress"),
    OUTSIDE_OF_L1("a transfer outside L1"),
    UNALIGNED_L3("an unaligned transfer with L3"),
    BEYOND_L3("a transfer outside L3"),
    NO_SUCH_CHIP("a message to or from a chip that doesn't exist"),
    OTHER_SIZE("a message of another size than the receiver expects"),
    STORE_TO_NOTHING("the program caused a trap"),
    LARGE_STACK("a stack overflowed");

    /** The messages of ports that detect them. */
    final String message;

    Misuse(String message) {
      this.message = message;
    }

    byte[] input() {
      // The program numbers them in this order.
      return HalPrograms.input(List.of(values()).indexOf(this));
    }
  }
}
