package io.partita.backend.emitted.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RunProfileTest {
  private static final long PAST_32_BITS = 1L << 32;

  private static byte[] record(long... words) {
    ByteBuffer bytes =
        ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    LongStream.of(words).forEach(bytes::putLong);
    return bytes.array();
  }

  @Test
  void oneRecordIsReadAndWhatFollowsIsLeft() throws IOException {
    InputStream in =
        new ByteArrayInputStream(record(7, PAST_32_BITS, 600, 50, 40, 1, 2, 3, 4, 0x5A));

    RunProfile run = RunProfile.read(in);

    assertThat(run)
        .isEqualTo(new RunProfile(7, PAST_32_BITS, 600, 50, 40, new Traffic(1, 2, 3, 4)));
    assertThat(run.otherCycles()).isEqualTo(PAST_32_BITS - 690);
    assertThat(in.readAllBytes()).isEqualTo(record(0x5A));
  }

  @Test
  void aStreamThatEndsEarlyIsRefused() {
    byte[] whole = record(1, 2, 3, 4, 5, 6, 7, 8, 9);
    InputStream in = new ByteArrayInputStream(Arrays.copyOf(whole, whole.length - 1));
    assertThatExceptionOfType(EOFException.class).isThrownBy(() -> RunProfile.read(in));
  }
}
