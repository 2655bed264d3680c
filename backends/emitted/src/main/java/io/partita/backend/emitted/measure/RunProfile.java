package io.partita.backend.emitted.measure;

import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The measured figures of one run on a chip, which takes as long as without a profile but for a few
 * cycles.
 *
 * @param start the program's cycle at which it began
 * @param cycles its duration; on hosts in nanoseconds
 * @param computeCycles the part in which kernels run
 * @param l3Cycles the part that waits for L3, and in which no kernels run
 * @param linkCycles the part of exchanges in which no kernels run
 * @param moved the bytes of transfers and messages that it starts
 */
public record RunProfile(
    long start, long cycles, long computeCycles, long l3Cycles, long linkCycles, Traffic moved) {
  /** The bytes of {@code partita_run_profile}. */
  static final int BYTES = 9 * Long.BYTES;

  /**
   * Reads the profile that a program built with {@code PROFILE=runs} writes after the outputs of a
   * run.
   *
   * @throws EOFException if the stream ends early
   */
  public static RunProfile read(InputStream in) throws IOException {
    byte[] bytes = new byte[BYTES];
    new DataInputStream(in).readFully(bytes);
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return new RunProfile(
        words.getLong(),
        words.getLong(),
        words.getLong(),
        words.getLong(),
        words.getLong(),
        new Traffic(words.getLong(), words.getLong(), words.getLong(), words.getLong()));
  }

  /** The cycles in which the control core does all else, such as waiting for L2. */
  public long otherCycles() {
    return cycles - computeCycles - l3Cycles - linkCycles;
  }
}
