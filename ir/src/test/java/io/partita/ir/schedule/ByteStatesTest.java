package io.partita.ir.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ByteStatesTest {
  static final int BYTES = 3 * (1 << 16) + 77;

  /** Fills as {@link Arrays#fill} does, and finds what a loop over all bytes finds. */
  @Property(tries = 50)
  void behavesLikeAnArray(
      @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 0, max = BYTES - 1) Integer> from,
      @ForAll @IntRange(min = 0, max = BYTES) int most) {
    ByteStates states = new ByteStates(BYTES);
    byte[] expected = new byte[BYTES];
    for (int i = 0; i < from.size(); i++) {
      int start = from.get(i);
      int bytes = Math.min(most / (i % 3 + 1), BYTES - start);
      byte state = (byte) (i % 5);
      states.fill(start, bytes, state);
      Arrays.fill(expected, start, start + bytes, state);
      for (int sought = 1; sought < 1 << 5; sought += 3) {
        assertThat(states.first(start / 2, BYTES - start / 2, sought))
            .isEqualTo(first(expected, start / 2, sought));
      }
    }
    assertThat(states.copy(0, BYTES)).isEqualTo(expected);
    byte[] part = states.copy(1000, BYTES - 1000);
    states.fill(0, BYTES, (byte) 4);
    states.restore(1000, part);
    assertThat(states.first(0, 1000, ~(1 << 4))).isEqualTo(-1);
    assertThat(states.copy(1000, BYTES - 1000)).isEqualTo(part);
  }

  private static long first(byte[] states, int from, int sought) {
    for (int at = from; at < states.length; at++) {
      if ((sought >> states[at] & 1) != 0) {
        return at;
      }
    }
    return -1;
  }

  @Test
  void memoriesOfManyGigabytesTakeLittleRoom() {
    long bytes = 24L << 30;
    ByteStates states = new ByteStates(bytes);
    states.fill(100, bytes - 200, (byte) 2);
    states.fill(5L << 30, 10, (byte) 1);
    assertThat(states.first(0, bytes, 1 << 2)).isEqualTo(100);
    assertThat(states.first(100, bytes - 200, ~(1 << 2))).isEqualTo(5L << 30);
    assertThat(states.first((5L << 30) + 10, bytes - (5L << 30) - 10, 1)).isEqualTo(bytes - 100);
    assertThat(states.get((5L << 30) + 9)).isEqualTo((byte) 1);
  }
}
