package io.partita.ir.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.BrokenGraphs;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class VerifierTest {
  private static void assertViolations(Module module, String expected) {
    String found =
        Verifier.violations(module).stream()
            .map(Diagnostic::toString)
            .collect(Collectors.joining("\n", "", "\n"));
    assertThat(found).isEqualTo(expected);
  }

  private static void assertViolations(Graph graph, String expected) {
    assertViolations(new Module(graph), expected);
  }

  @Test
  void inputNamesAreUnique() {
    assertViolations(
        BrokenGraphs.withTwoInputsOfOneName(),
        """
        error P3101: two inputs of a graph have the same name
          where:     input x
          expected:  a unique name
          found:     x
        """);
  }

  @Test
  void outputNamesAreUnique() {
    assertViolations(
        BrokenGraphs.withTwoOutputsOfOneName(),
        """
        error P3102: two outputs of a graph have the same name
          where:     output y
          expected:  a unique name
          found:     y
        """);
  }

  @Test
  void valuesAreDefinedBeforeTheirUses() {
    assertViolations(
        BrokenGraphs.inWrongOrder(),
        """
        error P3105: a value is used before its definition, or has none
          where:     node 0: exp "second", operand 0
          expected:  an input of the graph or a result of an earlier node
          found:     first: f32[2]
        """);
    assertViolations(
        BrokenGraphs.withDanglingOutput(),
        """
        error P3105: a value is used before its definition, or has none
          where:     output y
          expected:  an input of the graph or a result of an earlier node
          found:     elsewhere: f32[2]
        """);
  }

  @Test
  void valuesAreDefinedOnce() {
    assertViolations(
        BrokenGraphs.withOneNodeTwice(),
        """
        error P3106: a value is defined twice
          where:     node 1: exp "again"
          expected:  a new value
          found:     again: f32[2]
        """);
  }

  @Test
  void resultTypesAreDerived() {
    assertViolations(
        BrokenGraphs.withWrongResultType(),
        """
        error P3108: a result doesn't have the inferred type
          where:     node 0: exp "half"
          expected:  f32[2]
          found:     f16[2]
        """);
  }

  @Test
  void operandsFit() {
    assertViolations(
        BrokenGraphs.withOperandsThatDoNotFit(),
        """
        error P3107: the operands don't fit the operation
          where:     node 0: add "lonely"
          expected:  2 operands
          found:     1
        """);
  }

  @Test
  void typesAreWellFormed() {
    assertViolations(
        BrokenGraphs.withNegativeExtent(),
        """
        error P3109: a type is malformed
          where:     input x
          expected:  extents of 0 or more
          found:     f32[-2]
        """);
    assertViolations(
        BrokenGraphs.withBlankSymbol(),
        """
        error P3109: a type is malformed
          where:     input x
          expected:  symbols with a visible name
          found:     f32[" "]
        """);
  }

  @Test
  void statesConnectAnInputAndAnOutputOfEqualType() {
    GraphBuilder builder = new GraphBuilder("main");
    builder.output("y", builder.input("x", TensorType.of(ElementType.F32, 2)));
    builder.output("z", builder.input("w", TensorType.of(ElementType.F32, 3)));
    Graph graph = builder.finish();
    assertViolations(
        new Module(
            graph,
            List.of(
                new Module.State("nowhere", "y"),
                new Module.State("x", "nothing"),
                new Module.State("w", "y"),
                new Module.State("w", "z"))),
        """
        error P3103: a state names no input or output of its graph
          where:     state nowhere -> y
          expected:  the name of an input
          found:     nowhere
        error P3103: a state names no input or output of its graph
          where:     state x -> nothing
          expected:  the name of an output
          found:     nothing
        error P3104: the input and the output of a state differ in type
          where:     state w -> y
          expected:  f32[3]
          found:     f32[2]
        error P3103: a state names no input or output of its graph
          where:     state w -> z
          expected:  each input in at most one state
          found:     w
        """);
  }

  @Test
  void manyViolationsAreCounted() {
    Module module = new Module(BrokenGraphs.withManyViolations(1000));
    List<Diagnostic> violations = Verifier.violations(module);
    assertThat(violations).hasSize(101);
    // Each of the 999 repeated inputs is a name and a value too many.
    assertThat(violations.getLast().toString())
        .isEqualTo(
            """
            error P3110: there are more violations
              where:     graph broken
              found:     1898 more""");
    assertThatThrownBy(() -> Verifier.verify(module)).isInstanceOf(PartitaException.class);
  }
}
