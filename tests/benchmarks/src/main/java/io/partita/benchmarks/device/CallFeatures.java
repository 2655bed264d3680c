package io.partita.benchmarks.device;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.passes.schedule.tile.CallUnit;
import java.util.List;

/**
 * The total of a call, or of a run of elements, over all tiles of a loop, for the core with the
 * largest share.
 *
 * @param function the name of its figures
 * @param sharing the division of its work among cores
 * @param runs the number of calls
 * @param work in multiply-accumulates, or in elements times passes
 */
record CallFeatures(
    CallUnit call,
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
  static CallFeatures of(CallUnit call, TiledKernel loop, int cores, double split) {
    WorkSharing sharing = sharing(call, split);
    double runs = 0;
    double blocks = 0;
    double results = 0;
    double work = 0;
    List<TileExpression> expressions = call.work();
    for (LoopPosition at = new LoopPosition(loop); at.isInside(); at.next()) {
      if (call.onFirst().stream().allMatch(at::isFirst)
          && call.onLast().stream().allMatch(at::isLast)) {
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
    return new CallFeatures(call, call.figures(), sharing, runs, blocks, results, work);
  }

  private static WorkSharing sharing(CallUnit call, double split) {
    if (call.run().isPresent()) {
      return call.run().get().sharing();
    }
    WorkSharing sharing = call.kernel().struct().sharing();
    return call.kernel().kernelClass() == KernelClass.NORM
        ? new WorkSharing(sharing.rows(), sharing.columns(), split)
        : sharing;
  }
}
