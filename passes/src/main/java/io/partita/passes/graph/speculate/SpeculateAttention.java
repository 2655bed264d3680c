package io.partita.passes.graph.speculate;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Shape;
import io.partita.passes.ModulePass;

/**
 * Continues each block with its approximate attention where the verification accepts it, and with
 * the exact one otherwise. This is what algorithm 1 of "Attention-Level Speculation" computes,
 * without its concurrency.
 *
 * <p>With {@code reporting}, each block gets an output {@code speculation.N}, {@code bool[seq]},
 * that tells for which tokens the approximation was accepted.
 */
public final class SpeculateAttention implements ModulePass {
  /** The names of outputs that report accepted approximations begin with this. */
  public static final String REPORT = "speculation.";

  private final Speculation options;
  private final boolean reporting;

  public SpeculateAttention(Speculation options, boolean reporting) {
    this.options = options;
    this.reporting = reporting;
  }

  @Override
  public String name() {
    return "speculate-attention";
  }

  @Override
  public String purpose() {
    return "continue with an approximate attention where it is close to the exact one";
  }

  /**
   * @param module a module of the graph dialect with raised attention
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SpeculationCode}
   */
  @Override
  public Module run(Module module) {
    Graph graph = module.graph();
    GraphEditor editor = new GraphEditor(graph);
    int blocks = 0;
    for (Node node : graph.nodes()) {
      if (SpeculatedAttention.isPossible(node)) {
        options.requireChunks(node);
        speculate(editor, node, blocks++);
      }
    }
    if (blocks == 0) {
      throw SpeculationCode.ATTENTION.at(
          "graph \"" + graph.name() + "\"",
          "attention over a KV cache or over earlier tokens, without another mask and with a batch"
              + " of 1",
          "none",
          "speculate on a decoder, after raise");
    }
    return module.with(editor.freeze());
  }

  private void speculate(GraphEditor editor, Node attention, int block) {
    editor.before(attention);
    SpeculatedAttention parts = new SpeculatedAttention(editor, options, attention);
    Value approximate = parts.approximation();
    Value exact = editor.add(attention.op(), editor.operands(attention));
    Value accepted = parts.accepted(approximate, exact, sum -> sum);
    Value chosen = editor.add(new Elementwise.Select(), accepted, approximate, exact);
    editor.replace(attention.result(), chosen);
    if (reporting) {
      Shape shape = Shape.of(accepted.type().dim(2));
      editor.addOutput(REPORT + block, editor.add(new Movement.Reshape(shape), accepted));
    }
  }
}
