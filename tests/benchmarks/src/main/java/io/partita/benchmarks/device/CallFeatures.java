package io.partita.benchmarks.device;

import io.partita.ir.schedule.KernelCall;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.WorkSharing;

/**
 * What a call in a loop adds up to over all its tiles, for the core that has most.
 *
 * @param function in C, without the runtime's prefix
 * @param sharing of it between cores
 * @param runs of the kernel
 * @param work in multiply-accumulates, or in elements times passes
 */
record CallFeatures(
    KernelCall call,
    String function,
    WorkSharing sharing,
    double runs,
    double blocks,
    double results,
    double work) {
  private static final String PREFIX = "partita_";

  /**
   * @param split how much of a line's work can be shared, where there are fewer lines than cores
   */
  static CallFeatures of(KernelCall call, TiledKernel loop, int cores, double split) {
    WorkSharing sharing = sharing(call, split);
    double runs = 0;
    double blocks = 0;
    double results = 0;
    double work = 0;
    for (LoopPosition at = new LoopPosition(loop); at.isInside(); at.next()) {
      if (call.onLast().stream().allMatch(at::isLast)) {
        WorkSharing.Part most =
            sharing.most(
                call.work().get(0).at(at),
                call.work().get(1).at(at),
                call.work().get(2).at(at),
                call.work().get(3).at(at),
                cores);
        runs++;
        blocks += most.blocks();
        results += most.results();
        work += most.work();
      }
    }
    String name = call.function().substring(PREFIX.length());
    return new CallFeatures(call, name, sharing, runs, blocks, results, work);
  }

  /** As the kernel's header says. */
  private static WorkSharing sharing(KernelCall call, double split) {
    String header = call.header();
    if (header.endsWith("/gemm.h")) {
      return new WorkSharing(4, 4, 0);
    }
    return switch (call.kernel()) {
      case MATMUL, MATVEC, CONVOLUTION, SOFTMAX, REDUCTION -> new WorkSharing(0, 0, 0);
      case NORM -> new WorkSharing(0, 0, split);
      case ELEMENTWISE, TRANSCENDENTAL, MOVEMENT ->
          header.endsWith("/rotary.h") || header.endsWith("/attention.h")
              ? new WorkSharing(0, 0, 0)
              : new WorkSharing(0, 8, 0);
    };
  }
}
