package io.partita.benchmarks.device;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import java.util.List;

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
  /**
   * @param split how much of a line's work can be shared, where there are fewer lines than cores
   */
  static CallFeatures of(KernelCall call, TiledKernel loop, int cores, double split) {
    WorkSharing sharing = sharing(call, split);
    double runs = 0;
    double blocks = 0;
    double results = 0;
    double work = 0;
    List<TileExpression> expressions = call.work();
    for (LoopPosition at = new LoopPosition(loop); at.isInside(); at.next()) {
      if (call.onLast().stream().allMatch(at::isLast)) {
        WorkSharing.Part most =
            sharing.most(
                expressions.get(0).at(at),
                expressions.get(1).at(at),
                expressions.get(2).at(at),
                expressions.get(3).at(at),
                cores);
        runs++;
        blocks += most.blocks();
        results += most.results();
        work += most.work();
      }
    }
    return new CallFeatures(call, call.kernel().name(), sharing, runs, blocks, results, work);
  }

  private static WorkSharing sharing(KernelCall call, double split) {
    WorkSharing sharing = call.kernel().struct().sharing();
    return call.kernel().kernelClass() == KernelClass.NORM
        ? new WorkSharing(sharing.rows(), sharing.columns(), split)
        : sharing;
  }
}
