package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.text.PirFile;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.verify.Verifier;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text of a sharded block. */
class MeshTextTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("text/mesh.golden");
  private static final Mesh MESH = Mesh.line("x", 3);

  @TempDir private Path folder;

  private void assertPrints(String section, Graph graph, Map<Value, Layout> pinned) {
    LayoutPlan plan = LayoutPropagation.run(graph, MESH, pinned);
    Module module = SyncInsertion.insert(plan, List.of());
    Verifier.verify(module);
    GOLDEN.assertMatches(section, PirPrinter.print(module));
    Path file = folder.resolve("block.pir");
    PirFile.write(module, file);
    assertThat(PirFile.read(file)).isEqualTo(module);
  }

  @Test
  void headsAndInnerFeatures() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    assertPrints("heads and inner features on three chips", graph, blocks.pinned(MESH));
  }

  @Test
  void normsOnTheRoot() {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(1);
    Map<Value, Layout> pinned = blocks.pinned(MESH);
    pinned.put(blocks.input, Layout.replicated(MESH, 3).withAt("x", 0));
    assertPrints("norms and skip connections on the first chip", graph, pinned);
  }
}
