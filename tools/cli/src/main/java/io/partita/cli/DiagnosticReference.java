package io.partita.cli;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.java.BackendCode;
import io.partita.backend.metalium.MetaliumCode;
import io.partita.driver.DriverCode;
import io.partita.driver.evaluate.MetricCode;
import io.partita.frontend.onnx.ImportCode;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.file.FolderCode;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.target.TargetCode;
import io.partita.ir.text.TextCode;
import io.partita.ir.verify.VerifierCode;
import io.partita.passes.PassCode;
import io.partita.passes.graph.speculate.SpeculationCode;
import io.partita.passes.mesh.shard.ShardCode;
import io.partita.passes.mesh.sync.SyncCode;
import io.partita.passes.planning.residency.ResidencyCode;
import io.partita.passes.planning.search.PlanCode;
import io.partita.passes.program.collective.CollectiveCode;
import io.partita.passes.schedule.ScheduleCode;
import io.partita.passes.schedule.tile.TileCode;
import io.partita.passes.timing.CostCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** All diagnostics, and the page that explains them, {@code diagnostics.md}. */
final class DiagnosticReference {
  /** A section begins with {@code ### P1001: title}. */
  private static final String SECTION = "### ";

  private DiagnosticReference() {}

  /** The codes of all modules, by id. */
  static List<DiagnosticCode> codes() {
    return Stream.<DiagnosticCode[]>of(
            ImportCode.values(),
            QuantizeCode.values(),
            TextCode.values(),
            VerifierCode.values(),
            EvaluationCode.values(),
            TargetCode.values(),
            MeshCode.values(),
            PassCode.values(),
            CollectiveCode.values(),
            CostCode.values(),
            ShardCode.values(),
            SyncCode.values(),
            SpeculationCode.values(),
            PlanCode.values(),
            ResidencyCode.values(),
            ScheduleCode.values(),
            ScheduleFault.values(),
            TileCode.values(),
            FolderCode.values(),
            BackendCode.values(),
            ProgramCode.values(),
            MetaliumCode.values(),
            DriverCode.values(),
            MetricCode.values(),
            ZooDiagnostic.values())
        .flatMap(Stream::of)
        .sorted(Comparator.comparing(DiagnosticCode::id))
        .toList();
  }

  /** The code of an id in either case, as {@code p1001}. */
  static Optional<DiagnosticCode> find(String id) {
    return codes().stream().filter(code -> code.id().equalsIgnoreCase(id.strip())).findFirst();
  }

  /** The page's text about a code, without the heading. */
  static String text(DiagnosticCode code) {
    return sections().getOrDefault(heading(code), "");
  }

  /** {@code P1001: the file can't be read}. */
  static String heading(DiagnosticCode code) {
    return code.id() + ": " + code.title();
  }

  /**
   * The sections of the page in its order: heading to text.
   *
   * @throws IllegalStateException if two have the same heading
   */
  static Map<String, String> sections() {
    Map<String, String> sections = new LinkedHashMap<>();
    String heading = null;
    StringBuilder text = new StringBuilder();
    for (String line : (page() + "\n## end").lines().toList()) {
      if (!line.startsWith("#")) {
        text.append(line).append('\n');
        continue;
      }
      if (heading != null && sections.put(heading, text.toString().strip()) != null) {
        throw new IllegalStateException("two sections " + heading);
      }
      heading = line.startsWith(SECTION) ? line.substring(SECTION.length()) : null;
      text.setLength(0);
    }
    return sections;
  }

  private static String page() {
    try (InputStream page = DiagnosticReference.class.getResourceAsStream("diagnostics.md")) {
      return new String(page.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
