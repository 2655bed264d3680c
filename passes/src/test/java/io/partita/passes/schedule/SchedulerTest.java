package io.partita.passes.schedule;

import static io.partita.passes.schedule.SmallPrograms.input;
import static io.partita.passes.schedule.SmallPrograms.nodes;
import static io.partita.passes.schedule.SmallPrograms.only;
import static io.partita.passes.schedule.SmallPrograms.unary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SchedulerTest {
  @Test
  void emptyStatesNeedNoMemory() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = input(graph, "past", 0, 16);
              graph.output("present", unary(graph, UnaryFunction.NEG, past));
              Value joined = graph.add(new Movement.Concat(0), past, input(graph, "x", 2, 16));
              graph.output("y", unary(graph, UnaryFunction.SQRT, joined));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(chip.states()).isEmpty();
  }

  @Test
  void oldStatesAreOutputBeforeTheirUpdate() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              Value past = input(graph, "past", 2, 16);
              graph.output("present", unary(graph, UnaryFunction.NEG, input(graph, "x", 2, 16)));
              Value rows = graph.at("old").add(new Movement.Reshape(Shape.of(32)), past);
              graph.output("y", rows);
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("NEG", "old", "NEG");
  }

  @Test
  void statesMayBecomeInputs() {
    Program program =
        SmallPrograms.of(
            List.of(new Module.State("past", "present")),
            graph -> {
              graph.output("y", unary(graph, UnaryFunction.NEG, input(graph, "past", 2, 16)));
              graph.output("present", input(graph, "x", 2, 16));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("NEG", "x");
  }

  @Test
  void emptyOutputsHaveNoBytes() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = input(graph, "x", 4, 16);
              graph.output("y", unary(graph, UnaryFunction.SQRT, x));
              Movement.Slice none =
                  new Movement.Slice(
                      List.of(Dim.of(0), Dim.of(8)),
                      List.of(Dim.of(4), Dim.of(0)),
                      List.of(1L, 1L));
              graph.output("none", graph.add(none, x));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(nodes(chip)).containsExactly("SQRT");
    assertThat(chip.outputs().getLast().type()).isEqualTo(TensorType.of(ElementType.F32, 4, 0));
  }

  @Test
  void schedulesAreDeterministic() {
    ChipSchedule first = only(SmallPrograms.schedule(SmallPrograms.layers(3, 64)));
    ChipSchedule second = only(SmallPrograms.schedule(SmallPrograms.layers(3, 64)));
    assertThat(second).isEqualTo(first);
  }

  @Test
  void tilesGetNoMoreOfL1ThanTheOptionSays() {
    SchedulerOptions options = new SchedulerOptions(OptionalLong.of(4096), true, true);
    Program layers = SmallPrograms.layers(1, 128);
    ChipSchedule chip = only(Scheduler.schedule(layers, SmallPrograms.withL2(256), options));
    assertThat(chip.working().used()).isLessThanOrEqualTo(4096);
    ChipSchedule same =
        only(Scheduler.schedule(layers, SmallPrograms.with("l1", 4096), SchedulerOptions.STANDARD));
    assertThat(same.kernels()).isEqualTo(chip.kernels());
  }

  @Test
  void allUnsupportedNodesAreNamed() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F64, 2, 3));
              Value y = unary(graph, UnaryFunction.ASIN, x);
              graph.output("y", unary(graph, UnaryFunction.ATANH, y));
            });
    assertThatThrownBy(() -> SmallPrograms.schedule(program))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P4401: there is no kernel for an operation
              where:     node "ASIN"
              expected:  an operation and element types that a kernel of the runtime computes
              found:     asin of f64[2,3] that gives f64[2,3]
              fix:       use other operations or element types, such as f32 or i8; \
            the Java backend supports all operations
            error P4401: there is no kernel for an operation
              where:     node "ATANH"
              expected:  an operation and element types that a kernel of the runtime computes
              found:     atanh of f64[2,3] that gives f64[2,3]
              fix:       use other operations or element types, such as f32 or i8; \
            the Java backend supports all operations""");
  }

  /** Tests tables that are too large for folding. */
  @Test
  void constantExpressionsAreStored() {
    Program program =
        SmallPrograms.of(
            graph -> {
              long rows = 300;
              Value table = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, 5, 4), 2));
              Value indices =
                  graph.constant(Tensor.filled(TensorType.of(ElementType.I64, rows, rows, 2), 1));
              Value places =
                  graph.add(
                      new Movement.Slice(
                          List.of(Dim.ZERO, Dim.ZERO, Dim.ONE),
                          List.of(Dim.of(rows), Dim.of(rows), Dim.ONE),
                          List.of(1L, 1L, 1L)),
                      indices);
              Value same = graph.add(new Elementwise.Binary(BinaryFunction.MUL), places, places);
              Value summed =
                  graph.add(new Reduction.Reduce(ReductionKind.SUM, List.of(1, 2), false), same);
              Value one = graph.constant(Tensor.filled(TensorType.of(ElementType.I64, 1), 299));
              Value index = graph.add(new Elementwise.Binary(BinaryFunction.SUB), summed, one);
              Value bias = graph.add(new Structured.Embedding(), table, index);
              Value x = input(graph, "x", rows, 4);
              graph.output("y", graph.add(new Elementwise.Binary(BinaryFunction.ADD), x, bias));
            });
    ChipSchedule chip = only(SmallPrograms.schedule(program));
    assertThat(chip.kernels())
        .singleElement()
        .extracting(TiledKernel::name)
        .asString()
        .startsWith("add");
    assertThat(chip.constants()).singleElement().extracting(each -> each.bytes()).isEqualTo(4800L);
  }
}
