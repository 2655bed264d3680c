package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.file.EmittedFile;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication.Relayout;
import io.partita.ir.op.Communication.Reshard;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The emitted files of a network whose inner features are split over two devices. */
class DeviceGoldenTest {
  private static final JavaOptions OPTIONS = new JavaOptions("golden", "Network");

  private static Tensor ramp(long... extents) {
    Shape shape = Shape.of(extents);
    float[] data = new float[(int) shape.elements()];
    for (int i = 0; i < data.length; i++) {
      data[i] = i % 7 * 0.25f;
    }
    return Tensor.floats(shape, data);
  }

  static Program program(int devices, Algorithm algorithm) {
    Mesh mesh = Mesh.line("chip", devices);
    Split inner = Split.even(mesh, 6, "chip");
    GraphBuilder builder = new GraphBuilder("network");
    Value x = builder.input("x", TensorType.of(ElementType.F32, 2, 4));
    Value up = builder.at("up.weight").constant(ramp(4, 6));
    up = builder.add(new Reshard(Layout.of(mesh, Split.NONE, inner)), up);
    Value hidden = builder.at("/up/MatMul").add(new Structured.Linear(false, false), x, up);
    hidden = builder.at("/Relu").add(new Elementwise.Unary(UnaryFunction.RELU), hidden);
    Value down = builder.at("down.weight").constant(ramp(6, 4));
    down = builder.add(new Reshard(Layout.of(mesh, inner, Split.NONE)), down);
    Value sum = builder.at("/down/MatMul").add(new Structured.Linear(false, false), hidden, down);
    Layout whole = Layout.replicated(mesh, 2);
    Layout partial = whole.withPartial("chip", ReductionKind.SUM);
    Sync sync = ((Sync) Relayout.of(partial, whole)).with(algorithm);
    builder.output("y", builder.at("/down/MatMul").add(sync, sum));
    Placement placement = new Placement(mesh, Map.<String, Layout>of());
    return Localization.of(new Module(builder.finish(), List.of(), Optional.of(placement)), 1);
  }

  @Test
  void twoDevices() throws IOException {
    Program program = program(2, new Algorithm.Direct());
    EmittedJava emitted = JavaBackend.emit(program, OPTIONS);
    GoldenFile golden = GoldenFile.of("java/two-devices.golden");
    List<EmittedFile> ofModel =
        emitted.files().stream()
            .filter(
                file ->
                    file.path().endsWith("/Network.java")
                        || file.path().contains("/NetworkRole")
                        || file.path().endsWith(".json"))
            .toList();
    assertThat(ofModel).hasSizeGreaterThanOrEqualTo(3);
    for (EmittedFile file : ofModel) {
      golden.assertMatches(file.path(), file.text());
    }
  }

  @Test
  void devicesAgreeWithTheReference() {
    Tensor x = ramp(2, 4);
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      for (Algorithm algorithm :
          List.of(new Algorithm.Direct(), new Algorithm.Ring(), new Algorithm.Tree(2))) {
        Program program = program(4, algorithm);
        Tensor expected = new ProgramEvaluator(program, 1).run(Map.of("x", x)).get("y");
        try (ProgramRunner runner =
            ProgramRunner.load(compiler, JavaBackend.emit(program, OPTIONS))) {
          assertThat(runner.run(List.of(x))).containsExactly(expected);
        }
      }
    }
  }
}
