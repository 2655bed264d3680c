package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.ModulePass;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Makes a language model return the best next tokens instead of the scores of all: the output
 * {@code [batch, tokens, vocabulary]} becomes {@code top_values [batch, k]} and {@code top_indices
 * i64 [batch, k]} of the last token, with equal ones by ascending index. Scores of earlier tokens
 * are no longer computed.
 */
public final class SelectPass implements ModulePass {
  private static final String VALUES = "top_values";
  private static final String INDICES = "top_indices";

  private final long count;

  /**
   * @param count the number of tokens; 1 is greedy
   */
  public SelectPass(long count) {
    this.count = count;
  }

  @Override
  public String name() {
    return "select";
  }

  @Override
  public String purpose() {
    return "output the K best next tokens of a language model instead of all scores";
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode#SELECTION}
   */
  @Override
  public Module run(Module module) {
    Graph graph = module.graph();
    Graph.Output scores = scores(graph);
    GraphEditor editor = new GraphEditor(graph);
    editor.named(scores.name());
    TrainedWeights weights = new TrainedWeights(graph);
    Value last = new LastToken(editor, weights, scores.value()).result();
    Shape shape = last.type().shape();
    Value flat = editor.add(new Movement.Reshape(Shape.of(shape.dim(0), shape.fromEnd(0))), last);
    Node top = editor.addNode(new Reduction.TopK(count, 1, true), List.of(flat));
    editor.addOutput(VALUES, top.results().get(0));
    editor.addOutput(INDICES, top.results().get(1));
    editor.removeOutput(scores.name());
    return module.with(editor.freeze());
  }

  private Graph.Output scores(Graph graph) {
    ModelAnatomy anatomy = ModelAnatomy.of(graph);
    long vocabulary =
        anatomy
            .head()
            .filter(ModelAnatomy.Head::vocabulary)
            .map(ModelAnatomy.Head::outputs)
            .orElse(-1L);
    return graph.outputs().stream()
        .filter(output -> isScores(output.value(), vocabulary))
        .findFirst()
        .orElseThrow(
            () ->
                ShardCode.SELECTION.at(
                    "outputs",
                    "scores [batch,tokens,vocabulary] for " + count + " tokens or more",
                    graph.outputs().stream()
                        .map(output -> output.name() + ": " + output.value().type())
                        .collect(Collectors.joining(", ")),
                    "use select on a language model whose output is its scores"));
  }

  private boolean isScores(Value value, long vocabulary) {
    return value.type().rank() == 3
        && value.type().element().isFloat()
        && value.type().dim(2).is(vocabulary)
        && count >= 1
        && count <= vocabulary;
  }

  /** Restricts tokenwise operations to the last token, down to the scores. */
  private static final class LastToken {
    private final GraphEditor editor;
    private final TrainedWeights weights;
    private final Dim tokens;
    private final Value scores;
    private boolean isBeforeHead;

    LastToken(GraphEditor editor, TrainedWeights weights, Value scores) {
      this.editor = editor;
      this.weights = weights;
      this.scores = scores;
      this.tokens = scores.type().dim(1);
    }

    Value result() {
      return tokens.is(1) ? scores : of(scores);
    }

    private Value of(Value value) {
      Node node = value.definition();
      if (node == null || !value.type().dim(1).equals(tokens)) {
        return slice(value);
      }
      return switch (node.op()) {
        case Elementwise elementwise when !isBeforeHead -> byToken(node);
        case Structured.Linear linear when !isBeforeHead -> head(node);
        case Contraction.MatMul product when !isBeforeHead && weights.isTrained(node.operand(1)) ->
            head(node);
        case Op other -> slice(value);
      };
    }

    private Value head(Node node) {
      isBeforeHead = true;
      List<Value> operands = new ArrayList<>(node.operands());
      operands.set(0, of(operands.getFirst()));
      return editor.from(node).add(node.op(), operands);
    }

    private Value byToken(Node node) {
      List<Value> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        boolean hasTokens =
            operand.type().rank() >= 2 && operand.type().shape().fromEnd(1).equals(tokens);
        operands.add(!hasTokens ? operand : operand.type().rank() == 3 ? of(operand) : operand);
        if (hasTokens && operand.type().rank() != 3) {
          return slice(node.result());
        }
      }
      return editor.from(node).add(node.op(), operands);
    }

    private Value slice(Value value) {
      Shape shape = value.type().shape();
      List<Dim> starts = List.of(Dim.ZERO, shape.dim(1).minus(Dim.ONE), Dim.ZERO);
      List<Dim> sizes = List.of(shape.dim(0), Dim.ONE, shape.dim(2));
      return editor.add(new Movement.Slice(starts, sizes, List.of(1L, 1L, 1L)), value);
    }
  }
}
