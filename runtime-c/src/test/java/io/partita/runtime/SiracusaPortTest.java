package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.runtime.CCompiler.Build;
import io.partita.runtime.HalPrograms.Misuse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the contract of {@code hal.h} on simulated Siracusa chips. */
@ExtendWith(WithGvsoc.class)
class SiracusaPortTest {
  @TempDir private Path folder;

  private void writeImages(int chips) throws IOException {
    Path image = HalPrograms.image(folder);
    for (int chip = 0; chip < chips; chip++) {
      Files.copy(image, folder.resolve("chip" + chip + ".l3"));
    }
  }

  /** At a byte each cycle, messages of 100,000 bytes. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void meetsItsContract(int chips, Gvsoc gvsoc) throws IOException {
    Path program = gvsoc.executable("hal-test", Build.SIRACUSA, HalPrograms.source("hal_test.c"));
    writeImages(chips);
    List<byte[]> copied = HalPrograms.copied(chips);
    Gvsoc.Result result = gvsoc.run(program, folder, HalPrograms.inputs(100_000, copied));
    assertThat(result.outputs()).containsExactlyElementsOf(copied);
    for (int chip = 0; chip < chips; chip++) {
      assertThat(result.printed()).contains("{\"chip\": " + chip + ", \"cycles\": ");
    }
  }

  /** Counters of the hardware agree with the program's: 1932 + 102 bytes, 184 + 8, 100,012. */
  @Test
  void countersMatchTheProgram(Gvsoc gvsoc) throws IOException {
    Path program = gvsoc.executable("hal-test", Build.SIRACUSA, HalPrograms.source("hal_test.c"));
    writeImages(2);
    List<byte[]> inputs = HalPrograms.inputs(0, HalPrograms.copied(2));
    Gvsoc.Result result = gvsoc.run(program, folder, inputs);
    assertThat(result.printed())
        .containsPattern(HalPrograms.report(0, "100012", "\\{\"1\": 100012\\}"));
    String report = result.report().replaceAll("\\s+", "");
    assertThat(report)
        .startsWith("{\"ended\":[0,0],")
        .contains("\"l3\":{\"read\":184,\"written\":8,\"busy_cycles\":")
        .contains("\"dma\":{\"read\":1932,\"written\":102}")
        .contains("{\"from\":0,\"to\":1,\"messages\":2,\"bytes\":100012,")
        .contains("{\"from\":1,\"to\":0,\"messages\":2,\"bytes\":100012,");
  }

  /** Tests that L3 transfers are sequential and within the time of the program. */
  @Test
  void reportsTimesOfL3Transfers(Gvsoc gvsoc) throws IOException {
    Path program = gvsoc.executable("hal-test", Build.SIRACUSA, HalPrograms.source("hal_test.c"));
    writeImages(1);
    Gvsoc.Result result = gvsoc.run(program, folder, HalPrograms.inputs(0, HalPrograms.copied(1)));
    Matcher cycles = Pattern.compile("\"cycles\": ([0-9]+)").matcher(result.report());
    assertThat(cycles.find()).isTrue();
    Matcher transfer =
        Pattern.compile(
                "\"start\": (\\d+),\\s+\"end\": (\\d+),\\s+\"address\": \\d+,\\s+\"(read|written)\": (\\d+)")
            .matcher(result.report());
    long before = 0;
    long bytes = 0;
    while (transfer.find()) {
      long start = Long.parseLong(transfer.group(1));
      long end = Long.parseLong(transfer.group(2));
      long size = Long.parseLong(transfer.group(4));
      assertThat(start).isGreaterThanOrEqualTo(before);
      assertThat(end - start).isBetween(size * 5 / 4, size * 5 / 4 + 60);
      before = end;
      bytes += size;
    }
    assertThat(bytes).isEqualTo(184 + 8);
    assertThat(before).isBetween(1L, Long.parseLong(cycles.group(1)));
  }

  /** Tests that cores of other chips don't share floating-point units with those of this chip. */
  @Test
  void floatTimesDontDependOnOtherChips(Gvsoc gvsoc) throws IOException {
    Path program = gvsoc.executable("floats", Build.SIRACUSA, HalPrograms.source("floats.c"));
    List<Long> cycles = new ArrayList<>();
    for (int chips : List.of(1, 4)) {
      Path own = Files.createDirectory(folder.resolve(chips + "-chips"));
      Gvsoc.Result result = gvsoc.run(program, own, Collections.nCopies(chips, new byte[0]));
      Matcher found = Pattern.compile("\"cycles\": ([0-9]+)").matcher(result.report());
      while (found.find()) {
        cycles.add(Long.parseLong(found.group(1)));
      }
    }
    long alone = cycles.getFirst();
    assertThat(alone).isGreaterThan(2 * 4 * 2000); // two cores share a unit
    assertThat(cycles)
        .hasSize(5)
        .allSatisfy(each -> assertThat(each).isBetween(alone, alone + alone / 20));
  }

  /** Stores to unmapped addresses are not checked by the chip. */
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"STORE_TO_NOTHING"})
  void reportsMisuse(Misuse misuse, Gvsoc gvsoc) {
    Path program = gvsoc.executable("misuse", Build.SIRACUSA, HalPrograms.source("misuse.c"));
    List<byte[]> inputs = Collections.nCopies(2, misuse.input());
    assertThat(gvsoc.run(program, folder, inputs, 70)).contains(": " + misuse.message + "\n");
  }

  @Test
  void runsOnGvsocsOwnBoard(Gvsoc gvsoc) throws IOException {
    Path program =
        gvsoc.executable("hal-test", Build.SIRACUSA_ALONE, HalPrograms.source("hal_test.c"));
    writeImages(1);
    Files.write(
        folder.resolve("chip0.in"),
        HalPrograms.input(0, "abcdef".getBytes(StandardCharsets.UTF_8)));
    String printed = gvsoc.runAlone(program, folder);
    assertThat(printed).containsPattern(HalPrograms.report(0, "0", "\\{\\}"));
    assertThat(folder.resolve("chip0.out")).hasContent("abcdef");
  }
}
