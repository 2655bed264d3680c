package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.binary;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.unary;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.List;
import org.junit.jupiter.api.Test;

class RotaryRulesTest {
  /** Two products and a sum, as before. */
  private static final double TOLERANCE = 1e-6;

  private static Value part(GraphBuilder graph, Value x, long start, long size) {
    Shape shape = x.type().shape();
    return graph.add(
        new Movement.Slice(
            List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.of(start)),
            shape.with(3, Dim.of(size)).dims(),
            List.of(1L, 1L, 1L, 1L)),
        x);
  }

  private static Value rotated(GraphBuilder graph, Value x, long features) {
    Value low = part(graph, x, 0, features / 2);
    Value high = part(graph, x, features / 2, features / 2);
    return graph.add(new Movement.Concat(3), unary(graph, UnaryFunction.NEG, high), low);
  }

  /** Cosines or sines of {@code concat(f, f)}. */
  private static Value table(
      GraphBuilder graph, UnaryFunction function, Value left, Value right, Shape shape) {
    Value angles = graph.add(new Movement.Concat(2), left, right);
    return graph.add(new Movement.Reshape(shape), unary(graph, function, angles));
  }

  private static Value rotation(GraphBuilder graph, Value x, Value cosines, Value sines, long d) {
    return add(graph, mul(graph, x, cosines), mul(graph, rotated(graph, x, d), sines));
  }

  private static Value rotation(GraphBuilder graph, boolean equalHalves) {
    Value f = input(graph, "angles", 1, 5, 4);
    Value g = equalHalves ? f : input(graph, "others", 1, 5, 4);
    Value cosines = table(graph, UnaryFunction.COS, f, g, Shape.of(1, 1, 5, 8));
    Value sines = table(graph, UnaryFunction.SIN, f, g, Shape.of(1, 1, 5, 8));
    return rotation(graph, input(graph, "x", 2, 3, 5, 8), cosines, sines, 8);
  }

  @Test
  void halvesRotateWithHalvedTables() {
    Raised raised = Raised.of(graph -> rotation(graph, true));
    assertThat(raised.operations()).containsExactlyInAnyOrder("cos", "sin", "rotary_embedding");
    assertThat(raised.only(Structured.RotaryEmbedding.class).interleaved()).isFalse();
    raised.agrees(TOLERANCE);
  }

  @Test
  void tablesWithDifferentHalvesAreNotARotation() {
    Raised raised = Raised.of(graph -> rotation(graph, false));
    assertThat(raised.operations()).doesNotContain("rotary_embedding");
    raised.agrees(0);
  }

  @Test
  void sequenceBeforeHeads() {
    Raised raised =
        Raised.of(
            graph -> {
              Value f = input(graph, "angles", 1, 5, 4);
              Value cosines = table(graph, UnaryFunction.COS, f, f, Shape.of(1, 5, 1, 8));
              Value sines = table(graph, UnaryFunction.SIN, f, f, Shape.of(1, 5, 1, 8));
              return rotation(graph, input(graph, "x", 2, 5, 3, 8), cosines, sines, 8);
            });
    assertThat(raised.operations()).contains("rotary_embedding").doesNotContain("neg");
    raised.agrees(TOLERANCE);
  }

  /** Tests that nodes of a failed rule don't make other rules fire again. */
  @Test
  void tablesPerHeadAreNotARotation() {
    Raised raised =
        Raised.of(
            graph -> {
              Value f = input(graph, "angles", 1, 15, 4);
              Value cosines = table(graph, UnaryFunction.COS, f, f, Shape.of(1, 3, 5, 8));
              Value sines = table(graph, UnaryFunction.SIN, f, f, Shape.of(1, 3, 5, 8));
              Value x =
                  graph.add(
                      new Movement.Transpose(List.of(0, 2, 1, 3)), input(graph, "x", 2, 5, 3, 8));
              return rotation(graph, x, cosines, sines, 8);
            });
    assertThat(raised.operations()).doesNotContain("rotary_embedding").contains("neg");
    raised.agrees(0);
  }

  /**
   * Tests that constants of a failed rule, which are folded, don't make it fire again. The
   * Conformer rotates {@code [seq, batch, heads, d]}.
   */
  @Test
  void constantTablesOfSequencesThatComeFirstAreNotARotation() {
    Raised raised =
        Raised.of(
            graph -> {
              Value f = weight(graph, 1, 5, 4);
              Value cosines = table(graph, UnaryFunction.COS, f, f, Shape.of(5, 1, 1, 8));
              Value sines = table(graph, UnaryFunction.SIN, f, f, Shape.of(5, 1, 1, 8));
              return rotation(graph, input(graph, "x", 5, 2, 3, 8), cosines, sines, 8);
            });
    assertThat(raised.operations()).doesNotContain("rotary_embedding").contains("neg");
    raised.agrees(0);
  }

  @Test
  void partOfTheFeatures() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 3, 5, 12);
              Value f = input(graph, "angles", 1, 5, 4);
              Value cosines = table(graph, UnaryFunction.COS, f, f, Shape.of(1, 1, 5, 8));
              Value sines = table(graph, UnaryFunction.SIN, f, f, Shape.of(1, 1, 5, 8));
              Value turned = rotation(graph, part(graph, x, 0, 8), cosines, sines, 8);
              return graph.add(new Movement.Concat(3), turned, part(graph, x, 8, 4));
            });
    assertThat(raised.operations()).containsExactlyInAnyOrder("cos", "sin", "rotary_embedding");
    raised.agrees(TOLERANCE);
  }

  @Test
  void halvesRotatedSeparately() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 3, 5, 8);
              Value c = input(graph, "cosines", 1, 1, 5, 4);
              Value s = input(graph, "sines", 1, 1, 5, 4);
              Value low = part(graph, x, 0, 4);
              Value high = part(graph, x, 4, 4);
              Value first =
                  binary(graph, BinaryFunction.SUB, mul(graph, low, c), mul(graph, high, s));
              Value second = add(graph, mul(graph, high, c), mul(graph, low, s));
              return graph.add(new Movement.Concat(3), first, second);
            });
    assertThat(raised.operations()).contains("rotary_embedding").doesNotContain("sub");
    raised.agrees(TOLERANCE);
  }

  private static Value everySecond(GraphBuilder graph, Value x, long start) {
    return graph.add(
        new Movement.Slice(
            List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.of(start)),
            x.type().shape().with(3, Dim.of(4)).dims(),
            List.of(1L, 1L, 1L, 2L)),
        x);
  }

  /** Neighbours are rotated, and joined along the axis: 4 for pairs, 3 for halves. */
  private static Value interleaved(GraphBuilder graph, int axis) {
    Value x = input(graph, "x", 2, 3, 5, 8);
    Value c = input(graph, "cosines", 1, 1, 5, 4);
    Value s = input(graph, "sines", 1, 1, 5, 4);
    Value even = everySecond(graph, x, 0);
    Value odd = everySecond(graph, x, 1);
    Value first = binary(graph, BinaryFunction.SUB, mul(graph, even, c), mul(graph, odd, s));
    Value second = add(graph, mul(graph, odd, c), mul(graph, even, s));
    Shape apart = axis == 4 ? Shape.of(2, 3, 5, 4, 1) : Shape.of(2, 3, 5, 1, 4);
    Value stack =
        graph.add(
            new Movement.Concat(axis),
            graph.add(new Movement.Reshape(apart), first),
            graph.add(new Movement.Reshape(apart), second));
    return graph.add(new Movement.Reshape(Shape.of(2, 3, 5, 8)), stack);
  }

  @Test
  void interleavedPairsRotatedSeparately() {
    Raised raised = Raised.of(graph -> interleaved(graph, 4));
    assertThat(raised.operations()).contains("rotary_embedding").doesNotContain("sub");
    assertThat(raised.only(Structured.RotaryEmbedding.class).interleaved()).isTrue();
    raised.agrees(TOLERANCE);
  }

  /** Each half of the result holds one of each pair. */
  @Test
  void pairsThatAreNotInterleavedAgainAreNotARotation() {
    Raised raised = Raised.of(graph -> interleaved(graph, 3));
    assertThat(raised.operations()).doesNotContain("rotary_embedding");
    raised.agrees(0);
  }
}
