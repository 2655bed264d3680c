package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Lets a module also return the tokens that its devices gather for attention. */
public final class TokenStatistics {
  private static final String OUTPUT = "partita.tokens.";

  private TokenStatistics() {}

  /**
   * A module that measures.
   *
   * @param syncs in the order of what it measures
   */
  public record Measuring(Module module, List<TokenSync> syncs) implements Statistics {
    /**
     * Returns the features of all tokens of one run, for each sync.
     *
     * @param outputs by name
     */
    public List<float[]> tokens(Map<String, Tensor> outputs) {
      return IntStream.range(0, syncs.size()).mapToObj(i -> outputs.get(name(i)).floats()).toList();
    }

    @Override
    public int outputs() {
      return syncs.size();
    }
  }

  /**
   * @param module of the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#VECTOR} if its devices
   *     gather no tokens
   */
  public static Measuring of(Module module) {
    List<TokenSync> syncs = TokenSync.of(module, LayoutInference.of(module));
    if (syncs.isEmpty()) {
      throw VectorSyncs.noTokens("module " + module.graph().name());
    }
    GraphEditor graph = new GraphEditor(module.graph());
    for (int i = 0; i < syncs.size(); i++) {
      graph.addOutput(name(i), syncs.get(i).node().result());
    }
    return new Measuring(module.with(graph.freeze()), syncs);
  }

  private static String name(int sync) {
    return OUTPUT + sync;
  }
}
