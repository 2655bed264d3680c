package io.partita.passes.graph.simplify;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import io.partita.passes.rewrite.RewriteRule;
import io.partita.passes.rewrite.Rewriter;
import java.util.List;
import java.util.stream.Stream;

/**
 * Folds constants, splits fused weights, merges equal nodes, and removes operations without effect
 * and unused values.
 */
public final class SimplifyPass implements ModulePass {
  /** Rules that any pass may add to its own, to simplify its result. */
  public static final List<RewriteRule> RULES =
      List.of(
          new FoldConstants(false),
          new RemoveNoEffect(),
          new AddZero(),
          new MergeReshapes(),
          new MergeTransposes());

  /** Also folds small matrices of integers that no product reads as integers. */
  public static final RewriteRule FOLD_DEQUANTIZED = new FoldConstants(true);

  @Override
  public String name() {
    return "simplify";
  }

  @Override
  public String purpose() {
    return "fold constants, split fused weights, merge equal nodes, remove nodes without effect or"
        + " users";
  }

  @Override
  public Module run(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    simplify(graph, List.of());
    WeightParts.separate(graph);
    return module.with(graph.freeze());
  }

  /** Applies {@code rules} and those of this pass until nothing changes. */
  public static void simplify(GraphEditor graph, List<RewriteRule> rules) {
    Rewriter rewriter = new Rewriter(Stream.concat(RULES.stream(), rules.stream()).toList());
    do {
      rewriter.rewrite(graph);
    } while (CommonSubexpressions.merge(graph));
  }
}
