package io.partita.cli;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.NearestName;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Explains a diagnostic. */
@Command(
    name = "explain",
    description = "Explain a diagnostic and its remedy; without CODE, list all of them.")
final class ExplainCommand implements Runnable {
  @Parameters(
      paramLabel = "CODE",
      arity = "0..1",
      description = "The diagnostic's number, such as P2001.")
  String id;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    if (id == null) {
      list(out);
      return;
    }
    DiagnosticCode code =
        DiagnosticReference.find(id)
            .orElseThrow(
                () ->
                    new ParameterException(
                        spec.commandLine(),
                        "there is no diagnostic "
                            + id
                            + "; "
                            + NearestName.of(id.strip(), ids())
                                .map(NearestName::suggestion)
                                .orElse("'partita explain' lists them all")));
    if (json) {
      Map<String, Object> entry = entry(code);
      entry.put("text", DiagnosticReference.text(code));
      out.println(Json.text(entry));
    } else {
      out.println(severity(code) + " " + DiagnosticReference.heading(code));
      out.println();
      out.println(DiagnosticReference.text(code));
    }
  }

  private static List<String> ids() {
    return DiagnosticReference.codes().stream().map(DiagnosticCode::id).toList();
  }

  private void list(PrintWriter out) {
    List<DiagnosticCode> codes = DiagnosticReference.codes();
    if (json) {
      out.println(Json.text(codes.stream().map(ExplainCommand::entry).toList()));
    } else {
      codes.forEach(code -> out.printf("%s  %-7s  %s%n", code.id(), severity(code), code.title()));
    }
  }

  private static Map<String, Object> entry(DiagnosticCode code) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("code", code.id());
    entry.put("severity", severity(code));
    entry.put("title", code.title());
    return entry;
  }

  private static String severity(DiagnosticCode code) {
    return code.severity().name().toLowerCase(Locale.ROOT);
  }
}
