package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

final class UsageTest {
  private static String mistake(Object... arguments) {
    Invocation invocation = Invocation.of(arguments);
    assertThat(invocation.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(invocation.out()).isEmpty();
    assertThat(invocation.err()).contains("--help' says more");
    assertThat(invocation.err().lines()).hasSizeLessThan(30);
    return invocation.err().lines().findFirst().orElseThrow();
  }

  @Test
  void namesMissingOptions() {
    assertThat(mistake("compile"))
        .isEqualTo(
            "Missing required options and parameters: '--target=TARGET', '--output=DIR', 'MODEL'");
    assertThat(mistake("opt")).startsWith("which file?");
    assertThat(mistake("zoo", "vit-base")).startsWith("missing: -o FILE");
  }

  @Test
  void namesUnknownOptionsFirst() {
    assertThat(mistake("compile", "m.onnx", "--targt", "java", "-o", "x")).contains("'--targt'");
  }

  @Test
  void namesInvalidValues() {
    assertThat(mistake("inspect", "m.onnx", "--dim", "seq"))
        .isEqualTo("Value for option '--dim' (NAME=N) should be in KEY=VALUE format but was seq");
    assertThat(mistake("inspect", "m.onnx", "--dim", "seq=x"))
        .isEqualTo("Invalid value for option '--dim' (NAME=N): 'x' isn't a whole number");
    assertThat(mistake("inspect", "m.onnx", "--dim", "seq=99999999999999999999"))
        .endsWith("'99999999999999999999' is beyond the range of this number");
    assertThat(mistake("generate", "x", "--prompt=a", "--vocab=v", "--tokens=99999999999"))
        .endsWith("'99999999999' is beyond the range of this number");
    assertThat(mistake("check", "cases", "--rtol", "small")).endsWith("'small' isn't a number");
    assertThat(mistake("generate", "x", "--prompt=a", "--vocab=v", "--tokens=-1"))
        .startsWith("--tokens takes a number of 0 or more");
  }

  @Test
  void refusesOptionsThatAreGivenTwice() {
    assertThat(mistake("compile", "m.onnx", "--target", "java", "--target", "siracusa", "-o", "x"))
        .isEqualTo("option '--target' (TARGET) should be specified only once");
    assertThat(mistake("compile", "m.onnx", "--target", "java", "-o", "x", "--output=y"))
        .isEqualTo("option '--output' (DIR) should be specified only once");
    assertThat(mistake("run", "x", "--inputs", "a.npz", "--inputs", "b.npz"))
        .isEqualTo("option '--inputs' (FILE) should be specified only once");
  }

  /** Tests the options of remedies, which are appended to commands that may have them. */
  @Test
  void lastOptionOfRemediesCounts() {
    Invocation planned =
        Invocation.of(
            "plan",
            Invocation.ROOT.resolve("tests/models/tiny-shakespeare/decode/network.onnx"),
            "--dim=past=16",
            "--target=wifi-laptops:laptops=4",
            "--strategy=sequence",
            "--devices=3",
            "--strategy=tensor=2,norm=root,vocabulary=replicated",
            "--devices=2",
            "--json");
    assertThat(planned.exitCode()).as(planned.err()).isEqualTo(ExitCode.DONE);
    assertThat(planned.json().get("strategy").toString()).startsWith("tensor=2");
  }

  @Test
  void suggestsACommand() {
    assertThat(Invocation.of("inspct").err()).contains("inspect");
  }

  @Test
  void theReferenceHasEveryCommandAndOption() throws IOException {
    String page = Files.readString(Invocation.ROOT.resolve("docs/cli.md"));
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    for (Map.Entry<String, CommandLine> command :
        Main.commandLine(nowhere, nowhere).getSubcommands().entrySet()) {
      if (command.getValue().getCommandSpec().usageMessage().hidden()) {
        continue;
      }
      String heading = "## partita " + command.getKey() + "\n";
      assertThat(page).contains(heading);
      String section = page.substring(page.indexOf(heading) + heading.length());
      int end = section.indexOf("\n## ");
      section = end < 0 ? section : section.substring(0, end);
      for (OptionSpec option : command.getValue().getCommandSpec().options()) {
        if (!option.inherited() && !option.usageHelp() && !option.versionHelp()) {
          assertThat(section).contains("`" + option.longestName());
        }
      }
    }
  }
}
