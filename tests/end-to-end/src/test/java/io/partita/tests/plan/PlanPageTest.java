package io.partita.tests.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.ir.golden.GoldenFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of 'partita plan', printed by the command in a separate process. */
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PlanPageTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("plan/pages.golden");
  private static final Path SHARED = Path.of("../../../shared");
  private static final int MAX_LINES = 45;
  private static final int MAX_COLUMNS = 100;
  private static final int USER_ERROR = 2;

  @TempDir Path folder;

  private String page(String... arguments) throws IOException, InterruptedException {
    return pageBeside("", arguments);
  }

  /**
   * Returns the page, which is printed beside an error.
   *
   * @param code of the error; empty if there is none
   */
  private String pageBeside(String code, String... arguments)
      throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-Xmx2g", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("io.partita.cli.Main", "plan"));
    command.addAll(List.of(arguments));
    int exit =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start()
            .waitFor();
    String errors = Files.readString(err);
    if (code.isEmpty()) {
      assertThat(exit).as(errors).isZero();
    } else {
      assertThat(exit).as(errors).isEqualTo(USER_ERROR);
      assertThat(errors).contains("error " + code);
    }
    String page = Files.readString(out);
    assertThat(page.lines())
        .hasSizeLessThanOrEqualTo(MAX_LINES)
        .allMatch(line -> line.length() <= MAX_COLUMNS);
    return page;
  }

  @Tag("exhaustive")
  @Test
  void tinyLlamaOnEightChips() throws Exception {
    GOLDEN.assertMatches(
        "tinyllama-42m on siracusa:chips=8",
        page("tinyllama-42m", "--mode", "decode", "--target", "siracusa:chips=8"));
  }

  @Tag("exhaustive")
  @Test
  void visionTransformerOnLaptops() throws Exception {
    Path model = SHARED.resolve("models/mnist-vit/network.onnx");
    if (!Files.exists(model)) {
      System.out.println("SKIPPED: no ../shared/models/mnist-vit beside the repository");
    }
    assumeThat(model).exists();
    GOLDEN.assertMatches(
        "mnist-vit on wifi-laptops:laptops=4,bandwidth=20Mbps",
        page(model.toString(), "--target", "wifi-laptops:laptops=4,bandwidth=20Mbps"));
    GOLDEN.assertMatches(
        "mnist-vit on as many of wifi-laptops as are best",
        page(model.toString(), "--target", "wifi-laptops", "--devices", "auto"));
  }

  /**
   * None of the 30 GiB of weights is read, and the heap holds only their names. A norm in f32
   * doesn't fit a core's L1.
   */
  @Tag("thorough")
  @Test
  void llamaOfEightBillionParametersOnCards() throws Exception {
    GOLDEN.assertMatches(
        "llama-3.1-8b on n150",
        pageBeside(
            "P4402",
            "llama-3.1-8b",
            "--mode",
            "decode",
            "--target",
            "n150",
            "--strategy",
            "tensor"));
  }
}
