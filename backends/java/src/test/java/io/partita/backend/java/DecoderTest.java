package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DecoderTest {
  private static final JavaOptions OPTIONS = new JavaOptions("emitted", "Decoder");

  /**
   * The tolerance of sums of 16 to 32 products in f32: 32 roundings by 6e-8 of values near 1, in a
   * few layers.
   */
  private static final double TOLERANCE = 2e-5;

  @Test
  void stepsAgreeWithTheEvaluator() {
    Module module = new DecoderGraph(16, 32, 2, 4, 20, 6).module();
    try (ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner runner = ProgramRunner.load(compiler, JavaBackend.emit(module, OPTIONS))) {
      for (int round = 0; round < 2; round++) {
        Map<String, Tensor> state = new HashMap<>();
        for (int position = 0; position < 6; position++) {
          Tensor token = Tensor.longs(Shape.of(1, 1), (position * 7 + round) % 20);
          Tensor at = Tensor.longs(Shape.of(1), position);
          Tensor expected = reference(module, token, at, state);
          Tensor found = runner.run(List.of(token, at)).getFirst();
          EmittedPrograms.assertClose(expected, found, TOLERANCE, "position " + position);
        }
        runner.reset();
      }
    }
  }

  private static Tensor reference(
      Module module, Tensor token, Tensor position, Map<String, Tensor> state) {
    Graph graph = module.graph();
    List<Tensor> inputs =
        graph.inputs().stream().map(input -> input(input, token, position, state)).toList();
    List<Tensor> outputs = Evaluator.run(graph, inputs);
    Map<String, Tensor> byName = new HashMap<>();
    for (int i = 0; i < outputs.size(); i++) {
      byName.put(graph.outputs().get(i).name(), outputs.get(i));
    }
    module.states().forEach(s -> state.put(s.input(), byName.get(s.output())));
    return byName.get("logits");
  }

  private static Tensor input(
      Value input, Tensor token, Tensor position, Map<String, Tensor> state) {
    return switch (input.name()) {
      case "input_ids" -> token;
      case "position" -> position;
      default -> state.getOrDefault(input.name(), Tensor.filled(input.type(), 0));
    };
  }

  @Test
  void writesTheCacheInPlaceAndKeepsThePosition() throws IOException {
    Module module = new DecoderGraph(16, 32, 1, 4, 20, 6).module();
    String source = JavaBackend.emit(module, OPTIONS).files().getFirst().text();
    assertThat(source)
        .contains("public float[] step(long token)")
        .contains("return step(new long[] {token}, new long[] {position++});")
        .contains("public void reset()")
        .doesNotContain("System.arraycopy(statePastK0,")
        .doesNotContain(".clone()");
  }

  /** By default, HotSpot doesn't compile methods of more than 8,000 bytes. */
  @Test
  void methodsOfLargeModelsAreShortEnoughForTheJit() throws IOException {
    Module module = new DecoderGraph(16, 32, 32, 4, 20, 6).module();
    EmittedJava program = JavaBackend.emit(module, OPTIONS);
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      Map<String, byte[]> classes =
          compiler.compile(OPTIONS.qualifiedName(), program.files().getFirst().text());
      for (byte[] bytes : classes.values()) {
        for (MethodModel method : ClassFile.of().parse(bytes).methods()) {
          int length =
              method
                  .findAttribute(java.lang.classfile.Attributes.code())
                  .map(code -> code.codeLength())
                  .orElse(0);
          assertThat(length).as(method.methodName().stringValue()).isLessThan(8000);
        }
      }
    }
  }
}
