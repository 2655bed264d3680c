package io.partita.driver;

import io.partita.ir.graph.Module;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.progress.ProgressListener;
import java.util.function.LongConsumer;

/**
 * The usual times of the steps of {@link Compilation#emit}, whose ratios give the share of the work
 * that is done. Computers differ in speed, but less in these ratios.
 *
 * @param emission in seconds
 * @param bytes the bytes of constants that are written
 */
record ExpectedTimes(double emission, long bytes) {
  /** The time to predict a run and to describe it, relative to emission. */
  private static final double REPORT = 0.08;

  private static final double BYTES_PER_SECOND = 250e6;

  /** The number of reports while files are written. */
  private static final int REPORTS = 100;

  /**
   * @param secondsPerOperation the time to emit an operation of a role
   */
  static ExpectedTimes of(Entries.Programs programs, double secondsPerOperation) {
    long operations = 0;
    for (Program program : programs.all()) {
      for (Role role : Roles.of(program)) {
        operations += operations(program.devices().get(role.devices().getFirst()));
      }
    }
    return new ExpectedTimes(operations * secondsPerOperation, bytes(programs));
  }

  private static long operations(Module device) {
    return device.graph().nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .count();
  }

  /** Entry points share constants, which are written once. */
  private static long bytes(Entries.Programs programs) {
    return programs.step().devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Source.Constant)
        .mapToLong(node -> node.result().type().bytes())
        .sum();
  }

  private double all() {
    return emission * (1 + REPORT) + bytes / BYTES_PER_SECOND;
  }

  /** Returns the share that is done when the program is emitted. */
  double emitted() {
    return emission / all();
  }

  /** Returns the share that is done when its run is predicted. */
  double reported() {
    return emission * (1 + REPORT) / all();
  }

  /** Returns a receiver of the number of bytes written. */
  LongConsumer written(ProgressListener writing) {
    return new LongConsumer() {
      private int reported;

      @Override
      public void accept(long done) {
        int parts = (int) (Math.min(done, bytes) * REPORTS / Math.max(1, bytes));
        if (parts > reported) {
          reported = parts;
          writing.share((double) parts / REPORTS);
        }
      }
    };
  }
}
