package io.partita.tests.hostile;

import static io.partita.tests.hostile.Onnx.FLOAT;
import static io.partita.tests.hostile.Onnx.INT64;
import static io.partita.tests.hostile.Onnx.call;
import static io.partita.tests.hostile.Onnx.function;
import static io.partita.tests.hostile.Onnx.graph;
import static io.partita.tests.hostile.Onnx.integers;
import static io.partita.tests.hostile.Onnx.longs;
import static io.partita.tests.hostile.Onnx.model;
import static io.partita.tests.hostile.Onnx.node;
import static io.partita.tests.hostile.Onnx.opset;
import static io.partita.tests.hostile.Onnx.raw;
import static io.partita.tests.hostile.Onnx.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import io.partita.driver.ModelFile;
import io.partita.driver.StandardPasses;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.verify.Verifier;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that huge models, valid or not, take bounded time and stack. */
@Timeout(value = 240, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileSizesTest {
  @TempDir Path folder;

  private Module read(ModelProto.Builder model) throws IOException {
    Path file = Files.write(folder.resolve("model.onnx"), model.build().toByteArray());
    return ModelFile.read(file, Map.of(), Map.of()).module();
  }

  private PartitaException refuse(ModelProto.Builder model) throws IOException {
    Path file = Files.write(folder.resolve("model.onnx"), model.build().toByteArray());
    PartitaException told =
        catchThrowableOfType(
            PartitaException.class, () -> ModelFile.read(file, Map.of(), Map.of()));
    assertThat(told).isNotNull();
    return told;
  }

  /** x -> Relu -> t0 -> Neg -> t1 … -> y. */
  private static GraphProto.Builder chain(int nodes) {
    GraphProto.Builder graph = graph();
    String last = "x";
    for (int i = 0; i < nodes; i++) {
      String next = i == nodes - 1 ? "y" : "t" + i;
      graph.addNode(node(i % 2 == 0 ? "Sigmoid" : "Tanh", last + "->" + next));
      last = next;
    }
    return graph;
  }

  @Test
  void importsPassesAndPrintsAChainOf5000Nodes() throws IOException {
    importPassAndPrintAChain(5_000);
  }

  @Tag("exhaustive")
  @Test
  void importsPassesAndPrintsAChainOf100000Nodes() throws IOException {
    importPassAndPrintAChain(100_000);
  }

  private void importPassAndPrintAChain(int nodes) throws IOException {
    Module module = read(model(chain(nodes)));
    assertThat(module.graph().nodes()).hasSize(nodes);
    Verifier.verify(module);
    Module raised =
        Pipeline.parse("simplify,raise", StandardPasses.REGISTRY)
            .run(module, (pass, before, after) -> {});
    assertThat(raised.graph().nodes()).hasSize(nodes);
    String text = PirPrinter.print(raised);
    assertThat(PirPrinter.print(PirParser.parse(text))).isEqualTo(text);
  }

  /** Adds nodes in reverse, the worst case of sorting. */
  @Tag("exhaustive")
  @Test
  void importsAMillionNodes() throws IOException {
    GraphProto.Builder forward = chain(1_000_000);
    GraphProto.Builder graph = graph();
    for (int i = forward.getNodeCount() - 1; i >= 0; i--) {
      graph.addNode(forward.getNode(i));
    }
    Module module = read(model(graph));
    assertThat(module.graph().nodes()).hasSize(1_000_000);
    Verifier.verify(module);
  }

  @Tag("thorough")
  @Test
  void refusesAHundredThousandUnknownNodes() throws IOException {
    GraphProto.Builder graph = graph();
    String last = "x";
    for (int i = 0; i < 100_000; i++) {
      graph.addNode(node("Unheard", last + "->t" + i));
      last = "t" + i;
    }
    PartitaException told = refuse(model(graph));
    assertThat(told.getMessage()).contains("P2001").contains("9951 more like these");
  }

  /** The shape of each node depends on all earlier ones. */
  @Tag("exhaustive")
  @Test
  void refusesAHundredThousandUnknownShapes() throws IOException {
    GraphProto.Builder graph = graph().addInput(value("s", INT64, 2));
    String last = "s";
    for (int i = 0; i < 100_000; i++) {
      graph.addNode(node("Mul", last + ",s->s" + i));
      graph.addNode(node("Reshape", "x,s" + i + "->t" + i));
      last = "s" + i;
    }
    PartitaException told = refuse(model(graph.addNode(node("Relu", "t9->y"))));
    assertThat(told.getMessage()).contains("P2006").contains("it depends on the value of s");
  }

  /** Products of constants: 2^20 results of 2^22 products each would take hours. */
  @Test
  void boundsFoldingOfProducts() throws IOException {
    GraphProto.Builder graph =
        graph(node("ConvInteger", "a,b->y", integers("pads", 512, 512, 512, 512)))
            .addInitializer(raw("a", 3, 1 << 20, 1, 1, 1 << 10, 1 << 10))
            .addInitializer(raw("b", 3, 1 << 20, 1, 1, 1 << 10, 1 << 10));
    assertThat(read(model(graph)).graph().nodes()).isNotEmpty();
  }

  /** Each node reads 2^22 constants and has one result. */
  @Tag("thorough")
  @Test
  void boundsFoldingOfSums() throws IOException {
    GraphProto.Builder graph = graph().addInitializer(raw("a", FLOAT, 1 << 24, 1 << 22));
    for (int i = 0; i < 10_000; i++) {
      graph.addNode(node("ReduceSum", "a->s" + i));
      graph.addNode(node("Add", "x,s" + i + "->" + (i == 9_999 ? "y" : "t" + i)));
    }
    assertThat(read(model(graph)).graph().nodes()).isNotEmpty();
  }

  /** Shape arithmetic on 4096 symbolic elements at each of 5,000 nodes. */
  @Tag("thorough")
  @Test
  void boundsShapeArithmetic() throws IOException {
    GraphProto.Builder graph =
        graph().addInitializer(longs("many", 4096)).setInput(0, value("x", FLOAT));
    graph
        .getInputBuilder(0)
        .getTypeBuilder()
        .getTensorTypeBuilder()
        .getShapeBuilder()
        .addDimBuilder()
        .setDimParam("n");
    graph.addNode(node("Shape", "x->s")).addNode(node("Expand", "s,many->p0"));
    for (int i = 0; i < 5_000; i++) {
      graph.addNode(node("Add", "p" + i + ",s->p" + (i + 1)));
    }
    assertThat(read(model(graph.addNode(node("Identity", "p5000->y")))).graph().nodes())
        .isNotEmpty();
  }

  /** An If in a branch of an If, and so on: protobuf itself reads by recursion. */
  @Test
  void refuses2000NestedBranches() throws IOException {
    byte[] graph = new byte[0];
    for (int i = 0; i < 2000; i++) {
      graph = field(1, field(5, field(6, graph)));
    }
    Path file = Files.write(folder.resolve("model.onnx"), field(7, graph));
    PartitaException told =
        catchThrowableOfType(
            PartitaException.class, () -> ModelFile.read(file, Map.of(), Map.of()));
    assertThat(told.getMessage()).contains("P1004").contains("too many levels of nesting");
  }

  /** Returns a message in field {@code number} in protobuf's encoding. */
  private static byte[] field(int number, byte[] message) throws IOException {
    var bytes = new java.io.ByteArrayOutputStream();
    var out = com.google.protobuf.CodedOutputStream.newInstance(bytes);
    out.writeByteArray(number, message);
    out.flush();
    return bytes.toByteArray();
  }

  @Tag("thorough")
  @Test
  void refusesALoopOf10To12Iterations() throws IOException {
    GraphProto.Builder body =
        GraphProto.newBuilder()
            .addInput(value("turn", INT64))
            .addInput(value("on", 9))
            .addInput(value("v", FLOAT, 2, 3))
            .addNode(node("Identity", "on->goes"))
            .addNode(node("Neg", "v->w"))
            .addOutput(value("goes", 9))
            .addOutput(value("w", FLOAT));
    GraphProto.Builder graph =
        graph(node("Loop", "n,,x->y", Onnx.subgraph("body", body)))
            .addInitializer(longs("n", 1_000_000_000_000L));
    assertThat(refuse(model(graph)).getMessage()).contains("P2015");
  }

  @Tag("thorough")
  @Test
  void refusesExponentialCalls() throws IOException {
    ModelProto.Builder model = model(graph(call("f0", "x->y"))).addOpsetImport(opset("local", 1));
    for (int i = 0; i < 50; i++) {
      String next = i == 49 ? "Relu" : "f" + (i + 1);
      String domain = i == 49 ? "" : "local";
      model.addFunctions(
          function(
              "f" + i, node(next, "a->m").setDomain(domain), node(next, "m->b").setDomain(domain)));
    }
    assertThat(refuse(model).getMessage()).contains("P2015");
  }

  /** A function of one large constant, called 10,000 times, which would take 5 GB. */
  @Tag("thorough")
  @Test
  void refusesLargeFunctionsWithManyCalls() throws IOException {
    var constant = node("Constant", "->c");
    var values = constant.addAttributeBuilder().setName("value_ints");
    for (int i = 0; i < 200_000; i++) {
      values.addInts(i);
    }
    GraphProto.Builder graph = graph();
    for (int i = 0; i < 10_000; i++) {
      graph.addNode(call("f", "x->" + (i == 0 ? "y" : "y" + i)));
    }
    ModelProto.Builder model =
        model(graph)
            .addOpsetImport(opset("local", 1))
            .addFunctions(function("f", constant, node("Relu", "a->b")));
    assertThat(refuse(model).getMessage()).contains("P2015");
  }

  @Test
  void importsANodeWith100000Operands() throws IOException {
    String[] names = new String[100_000];
    java.util.Arrays.fill(names, "x");
    var concat = node("Concat", String.join(",", names) + "->y", Onnx.integer("axis", 0));
    assertThat(read(model(graph(concat))).graph().outputs().getFirst().value().type())
        .hasToString("f32[200000,3]");
  }
}
