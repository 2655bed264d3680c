package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import org.junit.jupiter.api.Test;

class CompilerReportTest {
  private static FailureMessage message(String executionId, File pom, String plan) {
    return new FailureMessage(new File("a.onnx"), executionId, pom, plan, new File("my (out)"));
  }

  @Test
  void failureNamesModelExecutionAndParameters() {
    CompilerReport report =
        CompilerReport.of(
            """
            {"exitCode": 2, "diagnostics": [{"code": "P6017", "title": "too many devices",
              "where": "--devices 9", "expected": "at most 2", "found": "9", "fix": ""}]}
            """,
            "sharding\nerror P6017: too many devices\n  where:     --devices 9\n");
    String text =
        message("decoder", new File("pom.xml"), null).text("can't be compiled", report.failure());
    assertThat(text)
        .isEqualTo(
            """
            a.onnx can't be compiled
            P6017: too many devices
              where:     --devices 9
              expected:  at most 2
              found:     9
            set by parameter <model> of execution 'decoder' in pom.xml
              --devices is <devices>""");
  }

  @Test
  void strategiesAndTargetsAreParametersToo() {
    FailureMessage message = message("x", null, null);
    assertThat(message.text("is wrong", new CompilerFailure("P4201\n  where:     strategy\n")))
        .endsWith("\n  --strategy is <strategy>");
    assertThat(message.text("is wrong", new CompilerFailure("P3310\n  where:     target n150")))
        .endsWith("\n  --target is <target>");
    assertThat(
            message.text("is wrong", new CompilerFailure("P4002\n  where:     the pass pipeline")))
        .endsWith("\n  --passes is <passes>");
    assertThat(message.text("is wrong", new CompilerFailure("P5003\n  where:     my (out)\n")))
        .endsWith("\n  --output is <output>");
  }

  @Test
  void targetsOfPlansAreNotTheTarget() {
    FailureMessage message = message("x", null, "boards:chips=2");
    assertThat(message.text("is wrong", new CompilerFailure("P3311\n  where:     target boards\n")))
        .endsWith("\n  --plan is <plan>")
        .doesNotContain("<target>");
    assertThat(message.text("is wrong", new CompilerFailure("P3310\n  where:     target n150\n")))
        .endsWith("\n  --target is <target>")
        .doesNotContain("<plan>");
  }

  @Test
  void otherErrorsAreReportedVerbatim() {
    assertThat(CompilerReport.of("{\"exitCode\": 2, \"message\": \"no\"}", "usage").failure())
        .hasMessage("no");
    assertThat(CompilerReport.of("", "what it wrote\n").failure()).hasMessage("what it wrote");
  }

  @Test
  void notesComeFromTheErrorStream() {
    CompilerReport report =
        CompilerReport.of("{}", "reading a.onnx\nnote P6014: usual\n  where: x\nsharding\n");
    assertThat(report.notes()).containsExactly("note P6014: usual\n  where: x");
  }

  @Test
  void optionsAreWholeWords() {
    String text =
        message("x", null, null)
            .text("can't be compiled", new CompilerFailure("use --class-path or --dimension"));
    assertThat(text).doesNotContain("<className>").doesNotContain("<dimensions>");
  }
}
