package io.partita.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitaTest {
  private static final Path MODELS = Path.of("../../tests/models/tiny-shakespeare");
  private static final Path DECODER = MODELS.resolve("decode/network.onnx");

  @TempDir Path scratch;

  @Test
  void compilesToJava() {
    List<String> steps = new ArrayList<>();
    List<Diagnostic> notes = new ArrayList<>();
    Path folder = scratch.resolve("java");
    CompiledModel compiled =
        Partita.compile(
            CompileOptions.of(DECODER, "java", folder)
                .dimension("past", 16)
                .packageName("com.example")
                .className("Decoder")
                .build(),
            new CompilationListener() {
              @Override
              public void note(Diagnostic note) {
                notes.add(note);
              }

              @Override
              public void step(String description) {
                steps.add(description);
              }
            });
    assertThat(compiled.className()).contains("com.example.Decoder");
    assertThat(compiled.kind()).isEqualTo(CompiledModel.Kind.DECODER);
    assertThat(compiled.devices()).isEqualTo(1);
    assertThat(compiled.mesh()).isEmpty();
    assertThat(compiled.inputs()).containsExactly(DECODER);
    assertThat(compiled.files()).contains("com/example/Decoder.java", "checksums.txt");
    assertThat(compiled.files())
        .isNotEmpty()
        .allSatisfy(file -> assertThat(folder.resolve(file)).exists());
    assertThat(compiled.summary()).startsWith("class com.example.Decoder: a decoder");
    assertThat(steps).contains("emitting Java");
    assertThat(notes).isEmpty();
  }

  @Test
  void compilesToC() {
    Steps steps = new Steps();
    CompiledModel compiled =
        Partita.compile(
            CompileOptions.of(DECODER, "siracusa:chips=2", scratch.resolve("c"))
                .dimension("past", 16)
                .devices(2)
                .build(),
            steps);
    assertThat(compiled.className()).isEmpty();
    assertThat(compiled.devices()).isEqualTo(2);
    assertThat(compiled.mesh()).contains("mesh(head=2)");
    assertThat(compiled.files()).contains("Makefile", "model.json");
    assertThat(steps.names)
        .containsSubsequence("sharding", "placing data", "verifying schedules", "printing C");
    steps.assertSharesGrow();
  }

  @Tag("thorough")
  @Test
  void planningIsAPartOfTheWork() {
    Steps steps = new Steps();
    Partita.compile(
        CompileOptions.of(DECODER, "siracusa:chips=2", scratch.resolve("planned"))
            .dimension("past", 16)
            .plan("siracusa:chips=2")
            .build(),
        steps);
    assertThat(steps.names.indexOf("printing C")).isGreaterThan(steps.first("planning "));
    assertThat(steps.shares.getFirst()).isZero();
    assertThat(steps.shares).allMatch(share -> share >= 0 && share <= 1);
    assertThat(steps.shares.indexOf(0.0)).isEqualTo(steps.shares.lastIndexOf(0.0));
  }

  /** Steps, and the shares of work at their beginnings. */
  private static final class Steps implements CompilationListener {
    private final List<String> names = new ArrayList<>();
    private final List<Double> shares = new ArrayList<>();

    @Override
    public void step(String description) {
      names.add(description.replaceFirst(", \\d+ of \\d+$", ""));
    }

    @Override
    public void share(double done) {
      shares.add(done);
    }

    int first(String prefix) {
      return IntStream.range(0, names.size())
          .filter(step -> names.get(step).startsWith(prefix))
          .findFirst()
          .orElseThrow();
    }

    void assertSharesGrow() {
      assertThat(shares).isSorted().startsWith(0.0).endsWith(1.0);
      assertThat(shares.stream().distinct()).hasSizeGreaterThan(5);
    }
  }

  @Test
  void inputsAreTheModelAndItsExternalData() {
    Path folder = Path.of("../../tests/fixtures/external/plain");
    Path model = folder.resolve("network.onnx");
    CompiledModel compiled =
        Partita.compile(CompileOptions.of(model, "java", scratch.resolve("plain")).build());
    assertThat(compiled.inputs())
        .extracting(path -> path.getFileName().toString())
        .containsExactly("network.onnx", "network.onnx.data.w1", "network.onnx.data.w2");
    assertThat(compiled.inputs()).isNotEmpty().allSatisfy(path -> assertThat(path).exists());
    assertThat(compiled.kind()).isEqualTo(CompiledModel.Kind.PREFILL);
  }

  @Test
  void errorsAreDiagnostics() {
    CompileOptions options =
        CompileOptions.of(scratch.resolve("none.onnx"), "java", scratch.resolve("out")).build();
    assertThatThrownBy(() -> Partita.compile(options))
        .isInstanceOfSatisfying(
            PartitaException.class, told -> assertThat(told.diagnostics()).hasSize(1));
    assertThat(Files.exists(scratch.resolve("out"))).isFalse();
  }

  @Test
  void conflictingOptionsAreRefused() {
    assertThatThrownBy(
            () ->
                Partita.compile(
                    CompileOptions.of(DECODER, "siracusa", scratch).className("Model").build()))
        .isInstanceOf(InvalidOptionsException.class)
        .hasMessage("--package and --class are for --target java; C has no classes");
    assertThatThrownBy(
            () -> Partita.compile(CompileOptions.of(DECODER, "java", scratch).chunk(1).build()))
        .isInstanceOf(InvalidOptionsException.class)
        .hasMessage("--chunk takes a number of 2 or more tokens, not 1");
  }

  @Test
  void optionsAreImmutable() {
    CompileOptions.Builder builder = CompileOptions.of(DECODER, "java", scratch);
    CompileOptions before = builder.build();
    builder.dimension("past", 7).devices(3);
    assertThat(before.dimensions()).isEmpty();
    assertThat(before.devices()).isEmpty();
    assertThat(builder.build().devices()).contains("3");
  }
}
