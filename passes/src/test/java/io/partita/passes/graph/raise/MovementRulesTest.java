package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.input;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MovementRulesTest {
  private static final Dim BATCH = Dim.symbol("batch");
  private static final Dim SEQ = Dim.symbol("seq");

  private static Value apply(GraphBuilder graph, Value x, List<Op> operations) {
    Value value = x;
    for (Op operation : operations) {
      value = graph.add(operation, value);
    }
    return value;
  }

  @Test
  void keysTransposedThroughMergedHeads() {
    Dim heads = BATCH.times(Dim.of(4));
    Raised raised =
        Raised.of(
            graph ->
                apply(
                    graph,
                    input(graph, "k", BATCH, Dim.of(4), SEQ, Dim.of(6)),
                    List.of(
                        new Movement.Reshape(Shape.of(heads, SEQ, Dim.of(6))),
                        new Movement.Transpose(List.of(0, 2, 1)),
                        new Movement.Reshape(Shape.of(BATCH, Dim.of(4), Dim.of(6), SEQ)))));
    assertThat(raised.only(Movement.Transpose.class).permutation()).containsExactly(0, 1, 3, 2);
    assertThat(raised.operations()).containsExactly("transpose");
    raised.agrees(0, Map.of("batch", Dim.of(2), "seq", Dim.of(3)));
  }

  @Test
  void sequenceFirstHeadsBecomeBatchFirst() {
    Raised raised =
        Raised.of(
            graph ->
                apply(
                    graph,
                    input(graph, "x", SEQ, Dim.of(2), Dim.of(24)),
                    List.of(
                        new Movement.Reshape(Shape.of(SEQ, Dim.of(8), Dim.of(6))),
                        new Movement.Transpose(List.of(1, 0, 2)),
                        new Movement.Reshape(Shape.of(Dim.of(2), Dim.of(4), SEQ, Dim.of(6))))));
    assertThat(raised.operations()).containsExactly("reshape", "transpose");
    raised.agrees(0, Map.of("seq", Dim.of(3)));
  }

  @Test
  void extentsWithoutCommonFactorsStay() {
    Raised raised =
        Raised.of(
            graph ->
                apply(
                    graph,
                    input(graph, "x", 4, 9),
                    List.of(
                        new Movement.Transpose(List.of(1, 0)),
                        new Movement.Reshape(Shape.of(6, 6)),
                        new Movement.Transpose(List.of(1, 0)))));
    assertThat(raised.operations()).containsExactly("transpose", "reshape", "transpose");
    raised.agrees(0);
  }

  @Provide
  Arbitrary<List<Integer>> permutations() {
    return Arbitraries.shuffle(0, 1, 2, 3);
  }

  /** Tests all orders of axes and positions of extents of 1. */
  @Property(tries = 200)
  void canonicalFormIsEquivalent(
      @ForAll("permutations") List<Integer> first, @ForAll("permutations") List<Integer> second) {
    Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 12, 1, 6);
              Value turned = graph.add(new Movement.Transpose(first), x);
              Value cut = graph.add(new Movement.Reshape(merged(turned.type().shape())), turned);
              Value apart = graph.add(new Movement.Reshape(turned.type().shape()), cut);
              return graph.add(new Movement.Transpose(second), apart);
            })
        .agrees(0);
  }

  private static Shape merged(Shape shape) {
    return Shape.of(shape.dim(0).times(shape.dim(1)), shape.dim(2), shape.dim(3));
  }

  /** Rules inspect a bounded number of nodes, so that time is linear in the size of the graph. */
  @Tag("exhaustive")
  @Test
  void longChainsTakeLinearTime() {
    GraphBuilder graph = new GraphBuilder("chain");
    Value value = input(graph, "x", 2, 3);
    for (int i = 0; i < 20_000; i++) {
      value = graph.add(new Elementwise.Unary(UnaryFunction.TANH), value);
      value = graph.add(new Movement.Transpose(List.of(1, 0)), value);
      value = graph.add(new Elementwise.Unary(UnaryFunction.SIN), value);
      value = graph.add(new Movement.Reshape(Shape.of(3 - i % 2, 2 + i % 2)), value);
      value = graph.add(new Movement.Reshape(Shape.of(2, 3)), value);
    }
    graph.output("y", value);
    Module module = new Module(graph.finish());
    Assertions.assertTimeout(Duration.ofMinutes(2), () -> new RaisePass().run(module));
  }
}
