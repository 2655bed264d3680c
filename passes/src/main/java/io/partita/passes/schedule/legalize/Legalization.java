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
 * Rewrites the graph of each device of a program so that each node needs at most one loop over
 * tiles.
 *
 * <p>Inputs, outputs and states keep names, types and order, and exchanges their order.
 * Feed-forward networks, patch embeddings and einsums become {@link
 * io.partita.ir.op.Structured.Linear}, {@link io.partita.ir.op.Contraction.MatMul}, elementwise and
 * movement nodes. Results of integer requantizations, norms and softmaxes that fit 8 bits are kept
 * in 8 bits, unless their only user needs 32. Operations on 16-bit floats compute in 32 bits,
 * without rounding to 16 bits in between. Small constants are folded. Large ones aren't: reshapes,
 * transposes or casts of constants may remain, and are computed at compile time.
 *
 * <p>Not every node has a kernel; lowering reports those without.
 */
public final class Legalization {
  /** Splits operations into one loop each. */
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
          new SimplifyEmpty(),
          new GatherRows(),
          new ScatterRows(),
          new AlignElements(),
          new WidenNibbles());

  /** What kernels on pages compute otherwise. */
  private static final List<RewriteRule> PAGED =
      List.of(
          new ExpandActivation(),
          new ExpandArithmetic(),
          new ReduceByProduct(),
          new SplitProduct());

  /** Unpacks 4-bit elements. */
  private static final List<RewriteRule> NIBBLES =
      List.of(new UnpackNibbles(), new UnpackMessages());

  /** Keeps 16-bit floats in memory only. */
  private static final List<RewriteRule> HALVES =
      List.of(new ComputeInF32(), new KeepF32(), new MoveF32());

  /** Narrows integers to their known ranges, with casts at their uses. */
  private static final List<RewriteRule> NARROW =
      List.of(
          new NarrowRequantized(),
          new NarrowNorm(),
          new NarrowSoftmax(),
          new MoveNarrow(),
          new ReadNarrow(),
          new CastNarrow(),
          new RemoveRequantization());

  /** Widens them to what users and kernels need. */
  private static final List<RewriteRule> WIDEN =
      List.of(
          new RequantizeWide(),
          new WidenProduct(),
          new WidenPower(),
          new WidenElements(),
          new WidenScatter());

  /** Moves quantizations to what computes their operands. */
  private static final List<RewriteRule> EARLY =
      List.of(new QuantizeEarly(), new RequantizeParts(), new RequantizeByTable());

  private Legalization() {}

  /**
   * Returns a module in which integers that are known to fit 8 bits have 8 bits, and are cast to 32
   * for what needs them, such as outputs: what legalization narrows.
   */
  public static Module narrowed(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    new Rewriter(NARROW).rewrite(graph);
    return module.with(graph.freeze());
  }

  /** {@link #legalize(Module, long, boolean)} for each device. */
  public static Program legalize(Program program, long workingBytes, boolean isPaged) {
    return new Program(
        program.mesh(),
        program.devices().stream().map(device -> legalize(device, workingBytes, isPaged)).toList(),
        program.inputs(),
        program.outputs());
  }

  /**
   * @param device the program of one device, of static types
   * @param workingBytes the bytes of the smallest working memory; longer lines are computed in
   *     parts
   * @param isPaged whether tiles are stored in pages of rows and columns, whose kernels have other
   *     functions
   */
  public static Module legalize(Module device, long workingBytes, boolean isPaged) {
    GraphEditor graph = new GraphEditor(device.graph());
    for (List<RewriteRule> rules : steps(workingBytes, isPaged)) {
      new Rewriter(Stream.concat(SimplifyPass.RULES.stream(), rules.stream()).toList())
          .rewrite(graph);
    }
    return device.with(graph.freeze());
  }

  /** Returns all rules except those of {@link SimplifyPass}. */
  public static List<RewriteRule> rules(long workingBytes) {
    return steps(workingBytes, true).stream().flatMap(List::stream).toList();
  }

  /** Returns the rule sets in order, each of which is applied until none of its rules fires. */
  private static List<List<RewriteRule>> steps(long workingBytes, boolean isPaged) {
    LongLines lines = new LongLines(workingBytes);
    List<RewriteRule> parts =
        List.of(new SplitLines(lines), new SplitReduction(lines), new SplitTable(lines));
    List<RewriteRule> attention = List.of(new WidenAttention(workingBytes, isPaged));
    List<RewriteRule> functions = isPaged ? PAGED : List.of();
    return List.of(attention, SPLIT, functions, NIBBLES, HALVES, NARROW, WIDEN, EARLY, parts);
  }
}
