package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that real exports can be imported with open dimensions, or that diagnostics name the
 * bindings.
 */
class FixtureImportTest {
  private static final Path FIXTURES = Path.of("../tests/fixtures");

  @Tag("thorough")
  @Test
  void everyFixtureImportsOrAsksForBindings() throws IOException {
    List<Path> models;
    try (var files = Files.walk(FIXTURES)) {
      models = files.filter(file -> file.endsWith("network.onnx")).sorted().toList();
    }
    assertThat(models).hasSizeGreaterThan(100);
    List<String> failures = new ArrayList<>();
    int imported = 0;
    for (Path file : models) {
      ImportResult result = new OnnxImporter(ImportOptions.NONE).examine(OnnxModel.read(file));
      imported += result.module().isPresent() ? 1 : 0;
      for (Diagnostic diagnostic : result.diagnostics()) {
        if (!diagnostic.remedy().matches("(bind|add --bind) .*")) {
          failures.add(FIXTURES.relativize(file.getParent()) + ": " + diagnostic);
        }
      }
    }
    // Two that must be equal have different names, or a shape comes from an input's value.
    assertThat(imported).isGreaterThan(models.size() * 9 / 10);
    assertThat(failures).isEmpty();
  }

  /** Tests that nodes without a name have that of their first output. */
  @Test
  void nodesOfFunctionsAreNamedAfterTheirCalls() {
    OnnxModel model = OnnxModel.read(FIXTURES.resolve("functions/nested/network.onnx"));
    Graph graph =
        new OnnxImporter(ImportOptions.NONE).examine(model).module().orElseThrow().graph();
    assertThat(graph.nodes())
        .extracting(Node::name)
        .contains("y0/n/sq", "y0/n/y", "y0/h", "y0/a/s", "y0/d", "y1/n/sq", "y1/a/s", "y1/y");
  }
}
