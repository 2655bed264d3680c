package io.partita.cli;

import io.partita.driver.Inspection;
import io.partita.frontend.onnx.UnsupportedNode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the contents of a model. */
@Command(
    name = "inspect",
    description = {
      "List the inputs, parameters, KV cache and transformer blocks of an ONNX model, and all of its"
          + " unsupported nodes.",
      "The exit code is 2 if the model can't be imported."
    })
final class InspectCommand implements Callable<Integer> {
  @Parameters(paramLabel = "MODEL", description = "A .onnx file.")
  GivenModel model;

  @Mixin ModelOptions options = new ModelOptions();

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Inspection inspection;
    try (Progress progress = Progress.start(err, "starting")) {
      inspection = Inspection.of(model.file(), options.dims, options.values, progress);
    }
    InspectionReport report = new InspectionReport(inspection);
    if (json) {
      out.println(Json.text(report.json()));
    } else {
      report.lines().forEach(out::println);
    }
    if (inspection.imported().module().isEmpty()) {
      if (!json) {
        inspection.diagnostics().stream()
            .filter(diagnostic -> !isListed(diagnostic.where(), inspection))
            .forEach(err::println);
      }
      return ExitCode.USER_ERROR;
    }
    return ExitCode.DONE;
  }

  /** The report already lists unsupported nodes. */
  private static boolean isListed(String where, Inspection inspection) {
    return inspection.imported().unsupported().stream()
        .map(UnsupportedNode::node)
        .anyMatch(where::contains);
  }
}
