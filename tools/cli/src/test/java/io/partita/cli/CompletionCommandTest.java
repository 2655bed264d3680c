package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.backend.emitted.run.Build;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests completions in bash. */
final class CompletionCommandTest {
  @TempDir Path scratch;

  /** Returns the completions of the last word. */
  private List<String> completions(String... words) throws IOException, InterruptedException {
    boolean isThere = Build.find("bash").isPresent();
    if (!isThere) {
      System.err.println("NO BASH: completions are NOT TESTED");
    }
    assumeTrue(isThere);
    Invocation printed = Invocation.of("completion", "bash");
    assertThat(printed.exitCode()).as(printed.err()).isZero();
    Path script = Files.writeString(scratch.resolve("partita.bash"), printed.out());
    StringBuilder line = new StringBuilder("COMP_WORDS=(");
    for (String word : words) {
      line.append("'").append(word).append("' ");
    }
    line.append("); COMP_CWORD=").append(words.length - 1);
    Process bash =
        new ProcessBuilder(
                "bash",
                "-c",
                "source '%s'; %s; _complete_partita; printf '%%s\\n' \"${COMPREPLY[@]}\""
                    .formatted(script, line))
            .redirectErrorStream(true)
            .start();
    String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(out).isZero();
    return out.lines().map(String::strip).toList();
  }

  @Test
  void bashCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assertThat(completions("partita", "co")).contains("compile", "completion");
    assertThat(completions("partita", "report", "--r")).contains("--run");
    assertThat(completions("partita", "compile", "--target", "")).contains("siracusa");
  }

  @Test
  void zshLoadsTheSameScript() {
    Invocation printed = Invocation.of("completion", "zsh");
    assertThat(printed.exitCode()).isZero();
    assertThat(printed.out())
        .contains("bashcompinit")
        .isEqualTo(Invocation.of("completion", "bash").out());
  }

  @Test
  void anUnknownShellIsAMistake() {
    assertThat(Invocation.of("completion", "fish").exitCode()).isEqualTo(ExitCode.USER_ERROR);
  }
}
