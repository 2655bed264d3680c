package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Elementwise;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests names from untrusted files. */
class HostileNamesTest {
  private static final List<String> NAMES =
      List.of(
          "",
          "x",
          "X",
          "x_",
          "class",
          "inputX",
          "outputs",
          "1",
          "*/ int evil; /*",
          "\\u000a int y;",
          "$T",
          "$L",
          "a\nb",
          "\"",
          "{@link Foo}",
          "<b>",
          "\u00e9",
          "this",
          "hashCode",
          "floats0",
          "ab",
          "aB",
          "a_b",
          "a.b",
          "/a/b",
          "int",
          "i",
          "i0",
          "devices",
          "deviceInputs",
          "scratchFloats0",
          "a/" + "very/".repeat(40) + "long/name",
          "a/" + "very/".repeat(40) + "long/other",
          "\u65e5\u672c",
          "\ud83d\ude00");

  private static Graph negations() {
    return negations(TensorType.of(ElementType.F32, 2));
  }

  private static Graph negations(TensorType type) {
    GraphBuilder builder = new GraphBuilder("*/ \\u002a/ $S \"");
    for (String name : NAMES) {
      Value input = builder.input(name, type);
      builder.at(name);
      builder.output(name, builder.add(new Elementwise.Unary(UnaryFunction.NEG), input));
    }
    return builder.finish();
  }

  private static List<Tensor> inputs() {
    return NAMES.stream().map(name -> Tensor.floats(Shape.of(2), name.length(), 1)).toList();
  }

  private static void assertNegated(List<Tensor> results) {
    for (int i = 0; i < NAMES.size(); i++) {
      assertThat(results.get(i).getDouble(0)).isEqualTo(-inputs().get(i).getDouble(0));
    }
  }

  @Test
  void hostileNamesGiveAValidClass() {
    try (EmittedPrograms programs = new EmittedPrograms()) {
      assertNegated(programs.run(negations(), inputs()));
    }
  }

  /** Each value has two users, so that it is stored in a shared buffer. */
  private static Graph chain() {
    GraphBuilder builder = new GraphBuilder("chain");
    Value sum = builder.input("start", TensorType.of(ElementType.F32, 2));
    for (String name : NAMES) {
      builder.at(name);
      Value negated = builder.add(new Elementwise.Unary(UnaryFunction.NEG), sum);
      Value absolute = builder.add(new Elementwise.Unary(UnaryFunction.ABS), negated);
      sum = builder.add(new Elementwise.Binary(BinaryFunction.SUB), absolute, negated);
    }
    builder.output("end", sum);
    return builder.finish();
  }

  @Test
  void hostileNamesGiveUniqueVariables() throws IOException {
    String source =
        JavaBackend.emit(new Module(chain()), new JavaOptions("", "Model"))
            .files()
            .getFirst()
            .text();
    Set<String> declared =
        Pattern.compile("float\\[\\] (\\w+) = floats\\d+;")
            .matcher(source)
            .results()
            .map(match -> match.group(1))
            .collect(Collectors.toSet());
    assertThat(declared).hasSizeGreaterThanOrEqualTo(NAMES.size());
    try (EmittedPrograms programs = new EmittedPrograms()) {
      Tensor start = Tensor.floats(Shape.of(2), 1, 0);
      double end = programs.run(chain(), List.of(start)).getFirst().getDouble(0);
      assertThat(end).isEqualTo(Math.pow(2, NAMES.size()));
    }
  }

  /** Names of classes that emitted code imports or has within. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Channels",
        "ByteBuffer",
        "Arrays",
        "List",
        "Map",
        "Files",
        "Path",
        "Socket",
        "IOException",
        "Frames",
        "ReentrantLock",
        "SSLSocket"
      })
  void hostileNamesGiveValidDeviceClasses(String className) {
    Mesh mesh = Mesh.line("chip", 2);
    TensorType type = TensorType.of(ElementType.F32, 2);
    SequencedMap<String, ShardedType> halves = new LinkedHashMap<>();
    Layout split = Layout.of(mesh, Split.even(mesh, 2, "chip"));
    NAMES.forEach(name -> halves.put(name, new ShardedType(type, split)));
    Module device = new Module(negations(TensorType.of(ElementType.F32, 1)));
    Program program = new Program(mesh, List.of(device, device), halves, halves);
    EmittedJava emitted = JavaBackend.emit(program, new JavaOptions("", className));
    try (ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner runner = ProgramRunner.load(compiler, emitted)) {
      assertNegated(runner.run(inputs()));
    }
  }
}
