package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that each remedy of 'plan' for a model that doesn't fit makes it fit. */
@Order(Integer.MAX_VALUE - 1)
@Tag("thorough")
final class PlanRemediesTest {
  private static final Path BERT =
      Invocation.ROOT.resolve("tests/fixtures/bert/dynamo20_sdpa_dynamic/network.onnx");

  @TempDir Path scratch;
  private String target;

  /** Returns a target of Siracusa chips with less memory. */
  @BeforeEach
  void writeTarget() throws IOException {
    String text = Files.readString(Invocation.ROOT.resolve("targets/siracusa.target"));
    String wide = text.replace("in 1 MiB .. 4 GiB", "in 1 KiB .. 4 GiB");
    assertThat(wide).isNotEqualTo(text);
    target = Files.writeString(scratch.resolve("small.target"), wide).toString();
  }

  /** Applies each remedy and returns the changed options. */
  private List<String> remedies(Object model, Object... options) {
    Object[] command =
        Stream.concat(
                Stream.of("plan", model, "--set=l1=32KiB", "--set=l2=256KiB"), Stream.of(options))
            .toArray();
    Invocation failed =
        Invocation.of(Stream.concat(Stream.of(command), Stream.of("--json")).toArray());
    assertThat(failed.exitCode()).as(failed.err()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(failed.err()).contains("error P4161", "memory l", "most is ");
    assertThat(failed.json()).containsEntry("fits", false);
    List<String> meanings = new ArrayList<>();
    for (Object each : (List<?>) failed.json().get("remedies")) {
      Map<?, ?> remedy = (Map<?, ?>) each;
      String added = remedy.get("options").toString();
      assertThat(failed.err()).contains(added);
      Invocation mended =
          Invocation.of(
              Stream.concat(Stream.of(command), Stream.of((Object[]) added.split(" "))).toArray());
      assertThat(mended.exitCode()).as(added + mended.err()).isEqualTo(ExitCode.DONE);
      assertThat(mended.out()).doesNotContain("NO FIT");
      meanings.add(remedy.get("meaning").toString());
    }
    return meanings;
  }

  @Tag("exhaustive")
  @Test
  void moreDevicesOrASmallerCache() {
    assertThat(
            remedies(
                Invocation.DECODER,
                "--target=" + target + ":chips=2,l3=320KiB",
                "--kv-capacity=256"))
        .containsExactly("more devices; the fewest found", "a smaller KV cache", "a larger l3");
  }

  @Test
  void largerMemory() {
    assertThat(
            remedies(
                Invocation.DECODER,
                "--target=" + target + ":chips=2,l3=256KiB",
                "--kv-capacity=256"))
        .containsExactly("more devices; the fewest found", "a larger l3");
  }

  @Tag("exhaustive")
  @Test
  void anotherStrategy() {
    assertThat(
            remedies(
                Invocation.SHAKESPEARE.resolve("prefill/network.onnx"),
                "--target=" + target + ":chips=4,l3=512KiB",
                "--dim=seq=64",
                "--strategy=sequence"))
        .containsExactly("another strategy", "a larger l3");
  }

  @Tag("exhaustive")
  @Test
  void smallerBatchOrShorterSequence() {
    assertThat(
            remedies(
                BERT,
                "--target=" + target + ":chips=4,l3=10KiB",
                "--dim=batch=32",
                "--dim=seq=32",
                "--strategy=tensor"))
        .containsExactly("a smaller batch", "a shorter sequence");
  }

  @Tag("exhaustive")
  @Test
  void missingRemediesAreReported() {
    Invocation failed =
        Invocation.of(
            "plan",
            Invocation.DECODER,
            "--target=" + target + ":chips=1",
            "--kv-capacity=8",
            "--set=l1=16B");
    assertThat(failed.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(failed.out()).contains("NO FIT", "none of the tried changes");
    assertThat(failed.err()).contains("memory l1", "none was found");
  }
}
