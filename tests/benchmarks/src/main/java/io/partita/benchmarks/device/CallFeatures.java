package io.partita.benchmarks.device;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import java.util.List;

/**
 * The total of a call over all tiles of a loop, for the core with the largest share.
 *
 * @param function the name in C, without the runtime's prefix
 * @param sharing the division of its work among cores
 * @param runs the number of calls
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
   * @param split the fraction of a line's work that cores can share if there are fewer lines than
   *     cores
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
