package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.passes.graph.simplify.SimplifyPass;
import io.partita.passes.rewrite.RewriteRule;
import io.partita.passes.rewrite.Rewriter;
import java.util.List;
import java.util.stream.Stream;

/**
 * Rewrites the graph of each device of a program such that no node needs more than one loop over
 * tiles.
 *
 * <p>Inputs, outputs and states keep names, types and order; exchanges stay in their order. There
 * are no feed-forward networks, patch embeddings and einsums left: they are {@link
 * io.partita.ir.op.Structured.Linear}, {@link io.partita.ir.op.Contraction.MatMul}, element-wise
 * and movement nodes. What a requantization, norm or softmax of integers leaves in 8 bits is kept
 * in 8, but for those whose only reader needs 32. Floats of 16 bits are computed with in 32, and
 * not rounded to 16 between. Small constants are folded. Large ones aren't: a reshape, transpose or
 * cast of a constant may be left, and is to be done when compiling.
 *
 * <p>Not every node has a kernel: which have is what lowering finds.
 */
public final class Legalization {
  /** One loop for each node. */
  private static final List<RewriteRule> SPLIT =
      List.of(
          new SplitFfn(),
          new ProjectPatches(),
          new SplitEinsum(),
          new SplitBatches(),
          new SplitConvolution(),
          new SplitPool(),
          new StuffZeros(),
          new RepeatBorders(),
          new FoldEmpty(),
          new WithoutElements(),
          new GatherRows(),
          new ScatterRows(),
          new AlignElements(),
          new WidenNibbles());

  /** Two elements of a byte apart. */
  private static final List<RewriteRule> NIBBLES =
      List.of(new UnpackNibbles(), new UnpackMessages());

  /** Floats of 16 bits as what they are kept in only. */
  private static final List<RewriteRule> HALVES =
      List.of(new ComputeInF32(), new KeepF32(), new MoveF32());

  /** Integers as narrow as they are known to be, with casts where they're read. */
  private static final List<RewriteRule> NARROW =
      List.of(
          new NarrowRequantized(),
          new NarrowNorm(),
          new NarrowSoftmax(),
          new MoveNarrow(),
          new ReadNarrow());

  /** As wide as they are read, and as there are kernels. */
  private static final List<RewriteRule> WIDEN =
      List.of(
          new RequantizeWide(),
          new WidenProduct(),
          new WidenPower(),
          new WidenElements(),
          new WidenScatter());

  private Legalization() {}

  /** {@link #legalize(Module, long)} for each device. */
  public static Program legalize(Program program, long workingBytes) {
    return new Program(
        program.mesh(),
        program.devices().stream().map(device -> legalize(device, workingBytes)).toList(),
        program.inputs(),
        program.outputs());
  }

  /**
   * @param device one device's program, of static types
   * @param workingBytes of the memory that kernels work on, or of the smallest one: longer lines
   *     are computed in parts
   */
  public static Module legalize(Module device, long workingBytes) {
    GraphEditor graph = new GraphEditor(device.graph());
    for (List<RewriteRule> rules : steps(workingBytes)) {
      new Rewriter(Stream.concat(SimplifyPass.RULES.stream(), rules.stream()).toList())
          .rewrite(graph);
    }
    return device.with(graph.freeze());
  }

  /** All rules that this applies, but for those of {@link SimplifyPass}. */
  public static List<RewriteRule> rules(long workingBytes) {
    return steps(workingBytes).stream().flatMap(List::stream).toList();
  }

  /** In this order, each until none of its rules fires any more. */
  private static List<List<RewriteRule>> steps(long workingBytes) {
    LongLines lines = new LongLines(workingBytes);
    List<RewriteRule> parts =
        List.of(new SplitLines(lines), new SplitReduction(lines), new SplitTable(lines));
    return List.of(SPLIT, NIBBLES, HALVES, NARROW, WIDEN, parts);
  }
}
