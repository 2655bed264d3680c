package io.partita.backend.emitted.measure;

import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The measured or predicted figures of one step.
 *
 * @param start its start: predicted relative to the run's start, measured relative to the program's
 * @param cycles its duration; on hosts in nanoseconds
 * @param computeCycles the part in which kernels run
 * @param moved the bytes of transfers and messages that it starts
 */
public record StepFigures(long start, long cycles, long computeCycles, Traffic moved) {
  /** The bytes of {@code partita_step_profile}. */
  public static final int BYTES = 3 * Long.BYTES + 4 * Integer.BYTES;

  static StepFigures of(StepPrediction step) {
    long start = Math.round(step.start());
    return new StepFigures(
        start,
        Math.round(step.start() + step.cycles()) - start,
        Math.round(step.computeCycles()),
        step.traffic());
  }

  /**
   * Reads the profile that a program built with {@code PROFILE=1} writes after the outputs of a
   * run.
   *
   * @param steps the number of the chip's steps
   * @throws EOFException if the stream ends early
   */
  public static List<StepFigures> read(InputStream in, int steps) throws IOException {
    byte[] bytes = new byte[steps * BYTES];
    new DataInputStream(in).readFully(bytes);
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    List<StepFigures> read = new ArrayList<>();
    for (int i = 0; i < steps; i++) {
      long cycles = words.getLong();
      long compute = words.getLong();
      long start = words.getLong();
      Traffic moved = new Traffic(bytes(words), bytes(words), bytes(words), bytes(words));
      read.add(new StepFigures(start, cycles, compute, moved));
    }
    return read;
  }

  private static long bytes(ByteBuffer words) {
    return Integer.toUnsignedLong(words.getInt());
  }

  /** The bytes that all steps move. */
  public static Traffic moved(List<StepFigures> steps) {
    return steps.stream().map(StepFigures::moved).reduce(Traffic.NONE, Traffic::plus);
  }

  /** The cycles of all steps in which kernels run. */
  public static long computeCycles(List<StepFigures> steps) {
    return steps.stream().mapToLong(StepFigures::computeCycles).sum();
  }

  /** The cycles of all steps, without the time of recording them. */
  public static long cycles(List<StepFigures> steps) {
    return steps.stream().mapToLong(StepFigures::cycles).sum();
  }
}
