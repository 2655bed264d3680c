package io.partita.passes.graph.raise;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import io.partita.passes.graph.anatomy.BlockRoles;
import io.partita.passes.graph.raise.activation.ActivationRules;
import io.partita.passes.graph.raise.attention.AttentionRules;
import io.partita.passes.graph.raise.embedding.EmbeddingRules;
import io.partita.passes.graph.raise.integer.IntegerRules;
import io.partita.passes.graph.raise.linear.LinearRules;
import io.partita.passes.graph.raise.movement.MovementRules;
import io.partita.passes.graph.raise.norm.NormRules;
import io.partita.passes.graph.raise.rotary.RotaryRules;
import io.partita.passes.graph.simplify.SimplifyPass;
import io.partita.passes.rewrite.RewriteRule;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Recovers the building blocks of transformers from the small nodes that exporters write.
 * Unrecognised nodes are left unchanged.
 */
public final class RaisePass implements ModulePass {
  /** Rules that match the patterns of exporters. */
  private static final List<RewriteRule> RECOGNISING =
      join(
          List.of(
              MovementRules.RULES,
              NormRules.RULES,
              ActivationRules.RULES,
              LinearRules.RULES,
              RotaryRules.RULES,
              AttentionRules.RULES));

  /**
   * The rules of the second step, which include rules that split values that the first step matches
   * as a whole.
   */
  private static final List<RewriteRule> SPLITTING =
      join(
          List.of(
              RECOGNISING,
              RotaryRules.TABLE_RULES,
              MovementRules.SPLITTING_RULES,
              LinearRules.SPLITTING_RULES,
              EmbeddingRules.RULES));

  private static final List<RewriteRule> ALL =
      join(List.of(SPLITTING, IntegerRules.RULES, AttentionRules.INTEGER_RULES));

  private static List<RewriteRule> join(List<List<RewriteRule>> lists) {
    return lists.stream().flatMap(List::stream).toList();
  }

  /** Returns all rules of this pass. */
  public static List<RewriteRule> rules() {
    return ALL;
  }

  @Override
  public String name() {
    return "raise";
  }

  @Override
  public String purpose() {
    return "recover attention, norms, linears, feed-forward networks and embeddings";
  }

  @Override
  public Set<Property> establishes() {
    return EnumSet.of(Property.RAISED);
  }

  @Override
  public Module run(Module module) {
    GraphEditor graph = new GraphEditor(module.graph());
    NameWeights.apply(graph);
    List<RewriteRule> last = join(List.of(ALL, List.of(SimplifyPass.FOLD_DEQUANTIZED)));
    for (List<RewriteRule> rules : List.of(RECOGNISING, SPLITTING, ALL, last)) {
      SimplifyPass.simplify(graph, rules);
    }
    return BlockRoles.record(module.with(graph.freeze()));
  }
}
