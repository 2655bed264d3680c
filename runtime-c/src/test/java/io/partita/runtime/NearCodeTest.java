package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code ports/siracusa/near.awk}, which chooses what is in L1 beside data, on symbols as nm prints
 * them.
 */
class NearCodeTest {
  /** 256 bytes of L1 are left, of which 64 are kept for alignment. */
  private static final String SYMBOLS =
      """
      1003ff00 B __l1_state_end
      10040000 A __l1_end
      1c000000 T _start
      1c000100 00000030 t start
      1c000130 00000042 T gemm
      1c000180 00000010 T partita_print
      1c000200 00000020 t start
      1c000240 0000000c t step.constprop.0
      1c000300 T __rare_code
      1c000300 00000010 T main
      1c000400 R __constants
      1c000408 R __constants_end
      """;

  private static final String SCRIPT =
      """
      /* A script. */
      SECTIONS
      {
          .text : {
              *(.text.*)
          } > L2
      }
      """;

  @TempDir private Path folder;

  @Test
  void choosesConstantsAndFunctionsInTheirOrder() throws Exception {
    // 16 bytes of constants, 80 of the functions named start, 80 of gemm, and 16.
    assertThat(near(SYMBOLS))
        .containsExactly(
            "*(.rodata .rodata.* .srodata .srodata.*)",
            "*(.text.start)",
            "*(.text.gemm)",
            "*(.text.partita_print)");
  }

  @Test
  void skipsWhatHasNoRoom() throws Exception {
    assertThat(near(SYMBOLS.replace("1003ff00", "1003ff50")))
        .containsExactly(
            "*(.rodata .rodata.* .srodata .srodata.*)", "*(.text.start)", "*(.text.partita_print)");
    assertThat(near(SYMBOLS.replace("1c000408", "1c001408")))
        .containsExactly(
            "*(.text.start)",
            "*(.text.gemm)",
            "*(.text.partita_print)",
            "*(.text.step.constprop.0)");
    assertThat(near(SYMBOLS.replace("1003ff00", "10040000"))).isEmpty();
  }

  @Test
  void putsTheSectionBeforeTheCodeInL2() throws Exception {
    String script = script(SYMBOLS);
    assertThat(script).startsWith("/* A script. */\nSECTIONS\n{\n    .near : ALIGN(16) {\n");
    assertThat(script).contains("__near_source = LOADADDR(.near);\n    .text : {\n");
    assertThat(script.substring(script.indexOf("    .text : {")))
        .isEqualTo(SCRIPT.substring(SCRIPT.indexOf("    .text : {")));
  }

  private List<String> near(String symbols) throws IOException, InterruptedException {
    List<String> patterns = new ArrayList<>();
    String script = script(symbols);
    for (String line : script.substring(0, script.indexOf("    .text : {")).lines().toList()) {
      if (line.strip().startsWith("*(")) {
        patterns.add(line.strip());
      }
    }
    return patterns;
  }

  private String script(String symbols) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("in"), symbols + SCRIPT);
    Process process =
        new ProcessBuilder(
                "awk", "-f", CCompiler.MODULE.resolve("ports/siracusa/near.awk").toString(), "in")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
