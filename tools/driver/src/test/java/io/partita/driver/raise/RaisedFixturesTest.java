package io.partita.driver.raise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.driver.Inspection;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.EvaluatorRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.graph.raise.RaisePass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that real exports are recognised block for block and keep their results. */
class RaisedFixturesTest {
  private static final Path SHARED = Path.of("../../../shared");

  /** The results of one in this many exports are compared by default. */
  private static final int SAMPLED = 4;

  /** Model families from PyTorch's exporters and ONNX Runtime's optimiser. */
  static Stream<Fixture> exported() {
    return Stream.of(
            "bert",
            "distilbert",
            "falcon",
            "gemma2",
            "gpt2",
            "gpt_neox",
            "llama",
            "mistral",
            "mobilebert",
            "native",
            "opt",
            "optimized",
            "phi",
            "phi3",
            "qwen2",
            "qwen3",
            "torch_nn",
            "vit")
        .flatMap(family -> Fixture.of(family).stream())
        .filter(fixture -> !NEEDS_TOTAL.contains(fixture.name()));
  }

  /**
   * Models whose mask length is a symbol that the importer can't equate with the number of keys.
   */
  private static final List<String> NEEDS_TOTAL =
      List.of(
          "native/hand23_kv_mask",
          "optimized/hand_gpt2_past",
          "optimized/hand_llama_mha_decode",
          "optimized/hand_llama_mha_prefill");

  @ParameterizedTest
  @MethodSource("exported")
  void everyBlockIsRaisedWithOpenDimensions(Fixture fixture) {
    Module module = fixture.module();
    Module raised = new RaisePass().run(module);
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), raised.graph());
    int blocks = fixture.expected("blocks");
    assertThat(anatomy.lines()).containsExactly(blocks + " of " + blocks + " blocks raised");
    assertThat(count(raised, op -> op instanceof Structured.Attention))
        .isEqualTo(fixture.expected("attention"));
    assertThat(count(raised, op -> op instanceof Structured.Norm))
        .isEqualTo(fixture.expected("norm"));
    assertThat(count(raised, op -> op instanceof Structured.Ffn))
        .isEqualTo(fixture.expected("ffn") + fixture.expected("gated_ffn"));
    assertThat(anatomy.head().filter(ModelAnatomy.Head::vocabulary).isPresent())
        .isEqualTo(fixture.expected("lm_head") == 1);
    assertThat(anatomy.patchEmbedding().isPresent())
        .isEqualTo(fixture.expected("patch_embedding") == 1);
    assertThat(anatomy.classToken().isPresent()).isEqualTo(fixture.expected("class_token") == 1);
    assertThat(anatomy.blocks()).hasSize(blocks).allMatch(Block::residual);
  }

  private static long count(Module module, Predicate<Op> test) {
    return module.graph().nodes().stream().filter(node -> test.test(node.op())).count();
  }

  /**
   * The others follow in the thorough tests, since the end-to-end tests compare all fixtures too.
   */
  static Stream<Fixture> sampled() {
    return chosen(number -> number % SAMPLED == 0);
  }

  static Stream<Fixture> notSampled() {
    return chosen(number -> number % SAMPLED != 0);
  }

  private static Stream<Fixture> chosen(IntPredicate chosen) {
    List<Fixture> all = exported().toList();
    return IntStream.range(0, all.size()).filter(chosen).mapToObj(all::get);
  }

  @ParameterizedTest
  @MethodSource("sampled")
  void sampledModelsAgreeWithTheRecording(Fixture fixture) {
    raisedModelsAgreeWithTheRecording(fixture);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("notSampled")
  void otherModelsAgreeWithTheRecording(Fixture fixture) {
    raisedModelsAgreeWithTheRecording(fixture);
  }

  private static void raisedModelsAgreeWithTheRecording(Fixture fixture) {
    OptionalDouble bound = OptionalDouble.of(fixture.tolerance());
    assertSameResults(fixture.folder(), new Tolerance(bound, bound));
  }

  private static void assertSameResults(Path folder, Tolerance tolerance) {
    CaseRunner runner =
        new CaseRunner(new EvaluatorRunner(), new Pipeline(List.of(new RaisePass())), tolerance);
    for (TestCase test : TestCase.find(folder)) {
      CaseResult result = runner.run(test);
      assertThat(result.status()).as(result.line()).isEqualTo(CaseResult.Status.PASS);
    }
  }

  /**
   * The reason why ONNX Runtime's fused attention with a past isn't imported: an open mask length.
   */
  private static final List<String> NEEDS_TOTAL_QUANTIZED = List.of("quantized/gpt2_fused_dynamic");

  static Stream<Fixture> quantized(Predicate<String> name) {
    return Fixture.of("quantized").stream()
        .filter(fixture -> !NEEDS_TOTAL_QUANTIZED.contains(fixture.name()))
        .filter(fixture -> name.test(fixture.name()));
  }

  static Stream<Fixture> quantizedWeights() {
    return quantized(name -> name.contains("_nbits"));
  }

  static Stream<Fixture> quantizedAsTheyRun() {
    return quantized(name -> name.contains("_dynamic"));
  }

  static Stream<Fixture> quantizedThroughout() {
    return quantized(name -> name.contains("_qdq") || name.contains("_qoperator"))
        .filter(fixture -> !fixture.name().contains("_nbits"));
  }

  @Test
  void everyQuantizedFixtureIsCovered() {
    assertThat(
            Stream.of(quantizedWeights(), quantizedAsTheyRun(), quantizedThroughout())
                .flatMap(fixtures -> fixtures)
                .map(Fixture::name))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(quantized(name -> true).map(Fixture::name).toList());
  }

  /** Tests that low-bit weights are raised. */
  @ParameterizedTest
  @MethodSource("quantizedWeights")
  void quantizedWeightsAreRaised(Fixture fixture) {
    everyBlockIsRaisedWithOpenDimensions(fixture);
    raisedModelsAgreeWithTheRecording(fixture);
  }

  @ParameterizedTest
  @MethodSource("quantizedAsTheyRun")
  void linearsThatQuantizeTheirInputAreRecognised(Fixture fixture) {
    Module module = fixture.module();
    Module raised = new RaisePass().run(module);
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), raised.graph());
    requireRoles(raised, anatomy);
    int blocks = fixture.expected("blocks");
    assertThat(anatomy.lines())
        .containsExactly(
            "%d of %d blocks recognised: %d raised with quantised linears"
                .formatted(blocks, blocks, blocks));
    assertThat(anatomy.blocks())
        .hasSize(blocks)
        .allMatch(Block::residual)
        .allMatch(block -> block.placement() != Block.NormPlacement.NONE);
    List<Block.FfnPart> ffns = anatomy.blocks().stream().flatMap(b -> b.ffns().stream()).toList();
    assertThat(ffns)
        .hasSize(fixture.expected("ffn") + fixture.expected("gated_ffn"))
        .allMatch(Block.FfnPart::quantized)
        .allMatch(ffn -> ffn.gated() == fixture.expected("gated_ffn") > 0);
    assertThat(anatomy.embeddings()).hasSize(fixture.expected("embedding"));
    assertThat(anatomy.head().filter(ModelAnatomy.Head::vocabulary).isPresent())
        .isEqualTo(fixture.expected("lm_head") == 1);
    raisedModelsAgreeWithTheRecording(fixture);
  }

  @ParameterizedTest
  @MethodSource("quantizedThroughout")
  void roundedAttentionIsRecognisedAndKept(Fixture fixture) {
    Module module = fixture.module();
    Module raised = new RaisePass().run(module);
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), raised.graph());
    int blocks = fixture.expected("blocks");
    for (int block = 0; block < blocks; block++) {
      assertThat(roles(raised, block))
          .as("block %d", block)
          .contains("query", "key", "value", "output", "up", "down", "norm", "residual");
    }
    assertThat(anatomy.lines())
        .containsExactly(
            "%d of %d blocks recognised: 0 raised, %d of integers kept"
                .formatted(blocks, blocks, blocks));
    assertThat(anatomy.integerAttentions()).hasSize(fixture.expected("attention"));
    raisedModelsAgreeWithTheRecording(fixture);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "models/mnist-vit",
        "models/shakespeare-llama/decode",
        "models/shakespeare-llama/prefill",
        "models/tiny-shakespeare/decode",
        "models/tiny-shakespeare/prefill",
        "peer-suite/Models/TinyViT/Demo",
        "peer-suite/Models/microLlama/FP32/microLlama1",
        "peer-suite/Models/CCT/FP32/CCT_1_16_16_8",
        "peer-suite/Models/CCT/FP32/CCT_2_32_32_128_Opset20"
      })
  void trainedModelsAreRaised(String folder) {
    Path path = SHARED.resolve(folder);
    assumeTrue(
        Files.exists(path), "SKIPPED: " + folder + " is not beside the repository in ../shared");
    Module module =
        new OnnxImporter(ImportOptions.NONE)
            .importModel(OnnxModel.read(path.resolve("network.onnx")));
    Module raised = new RaisePass().run(module);
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), raised.graph());
    assertThat(anatomy.candidates()).isPositive();
    assertThat(anatomy.lines())
        .containsExactly(anatomy.candidates() + " of " + anatomy.candidates() + " blocks raised");
    assertSameResults(path, Tolerance.DEFAULT);
  }

  static List<String> userModels() throws IOException {
    Path folder = SHARED.resolve("user-models");
    if (!Files.exists(folder)) {
      return List.of("user-models");
    }
    try (Stream<Path> models = Files.list(folder)) {
      return models
          .filter(model -> Files.exists(model.resolve("network.onnx")))
          .map(model -> "user-models/" + model.getFileName())
          .filter(model -> !model.contains("/min_"))
          .sorted()
          .toList();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("userModels")
  void blocksOfUserModelsAreRaised(String name) {
    Path path = SHARED.resolve(name).resolve("network.onnx");
    assumeTrue(
        Files.exists(path), "SKIPPED: " + name + " is not beside the repository in ../shared");
    Inspection inspection = Inspection.of(path, Map.of(), Map.of(), step -> {});
    assumeTrue(
        inspection.understood().isPresent(),
        "SKIPPED: " + name + " isn't imported without options: " + inspection.diagnostics());
    ModelAnatomy anatomy = inspection.understood().get().anatomy();
    assertThat(anatomy.completeBlocks() + anatomy.integerAttentions().size())
        .as(String.join("\n", anatomy.lines()))
        .isEqualTo(anatomy.candidates());
    assertThat(anatomy.blocks())
        .hasSize((int) anatomy.completeBlocks())
        .allMatch(Block::residual)
        .allMatch(block -> block.attention().heads().isStatic());
    requireRoles(inspection.understood().get().raised(), anatomy);
  }

  /**
   * Tests that blocks are numbered without gaps, and that nodes and weights have blocks and roles.
   */
  private static void requireRoles(Module raised, ModelAnatomy anatomy) {
    int blocks =
        anatomy.blocks().isEmpty() ? anatomy.integerAttentions().size() : anatomy.blocks().size();
    assertThat(
            raised.graph().nodes().stream()
                .flatMapToInt(node -> node.origin().block().stream())
                .distinct()
                .sorted())
        .containsExactlyElementsOf(IntStream.range(0, blocks).boxed().toList());
    for (Block block : anatomy.blocks()) {
      Set<String> roles = roles(raised, block.index());
      Block.AttentionPart attention = block.attention();
      assertThat(roles).contains("attention");
      attention.output().ifPresent(output -> assertThat(roles).contains("output"));
      attention
          .query()
          .ifPresent(query -> assertThat(roles).containsAnyOf("query", "projection", "key"));
      if (!block.ffns().isEmpty()) {
        assertThat(roles).as("block %d", block.index()).contains("up", "down");
      }
    }
  }

  private static Set<String> roles(Module raised, int block) {
    return raised.graph().nodes().stream()
        .map(Node::origin)
        .filter(origin -> origin.block().equals(OptionalInt.of(block)))
        .map(Origin::role)
        .collect(Collectors.toSet());
  }

  @Test
  void cachesAreFoundByTheirInputsAndOutputs() {
    Fixture fixture =
        Fixture.of("llama").stream()
            .filter(f -> f.name().endsWith("/ts_sdpa_kv"))
            .findFirst()
            .get();
    Module module = fixture.module();
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), new RaisePass().run(module).graph());
    Block.AttentionPart attention = anatomy.blocks().getFirst().attention();
    assertThat(attention.cache())
        .hasValue(
            new Block.Cache(
                "past_key_values.0.key",
                "past_key_values.0.value",
                "present.0.key",
                "present.0.value"));
    assertThat(attention.heads().value()).isEqualTo(4);
    assertThat(attention.kvHeads().value()).isEqualTo(2);
    assertThat(attention.rotation()).isEqualTo(Block.Rotation.HALVES);
  }
}
