package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.tensor.TensorHash;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The entry point of a decoder for a whole prompt, made from an export of the same model that takes
 * all tokens at once and has no cache: its keys and values are written to the decoder's caches,
 * from position 0 on.
 */
final class PromptEntry {
  private final Module step;
  private final Module prompt;
  private final String option;

  /**
   * @param step the decoder, with its caches as states
   * @param prompt the model that takes a prompt
   * @param option the option that names it, for diagnostics
   */
  PromptEntry(Module step, Module prompt, String option) {
    this.step = step;
    this.prompt = prompt;
    this.option = option;
  }

  /** Keys or values of an attention that a decoder writes to a cache. */
  private record CacheWrite(Module.State state, Node update) {}

  /**
   * @throws PartitaException with {@link DriverCode#NO_CHUNKS} if they aren't the same model, or
   *     the decoder has other caches
   */
  Module module() {
    requireSameModel();
    List<Node> steps = attentions(step.graph());
    List<Node> prompts = attentions(prompt.graph());
    Map<Value, CacheWrite> writes = writes();
    if (steps.size() != prompts.size() || writes.size() != 2 * steps.size()) {
      throw refused(
          steps.size() + " attentions, each with a cache of keys and one of values",
          prompts.size() + " attentions for " + writes.size() + " caches");
    }
    GraphEditor graph = new GraphEditor(prompt.graph());
    Value position = graph.constant(Tensor.longs(Shape.of(1), 0));
    for (int i = 0; i < steps.size(); i++) {
      if (!((Structured.Attention) prompts.get(i).op()).causal()) {
        throw refused("causal attention", prompts.get(i).toString());
      }
      for (int operand = 1; operand <= 2; operand++) {
        CacheWrite write = writes.get(steps.get(i).operand(operand));
        write(write, prompts.get(i).operand(operand), position, graph);
      }
    }
    return new Module(graph.freeze(), step.states());
  }

  private static List<Node> attentions(Graph graph) {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Structured.Attention)
        .toList();
  }

  /** The writes of the decoder, by the whole cache that an attention reads. */
  private Map<Value, CacheWrite> writes() {
    Map<String, Module.State> states = new HashMap<>();
    step.states().forEach(state -> states.put(state.input(), state));
    Map<Value, CacheWrite> writes = new HashMap<>();
    for (Node node : step.graph().nodes()) {
      if (node.op() instanceof Structured.CacheUpdate
          && states.containsKey(node.operand(0).name())) {
        writes.put(node.result(), new CacheWrite(states.get(node.operand(0).name()), node));
      }
    }
    return writes;
  }

  private void write(CacheWrite write, Value fresh, Value position, GraphEditor graph) {
    if (write == null || !fits(write.update, fresh.type())) {
      throw refused(
          "keys and values that fit the caches of the decoder"
              + (write == null ? "" : ", " + write.update.operand(0).type()),
          fresh.type());
    }
    Value cache = graph.addInput(write.state.input(), write.update.operand(0).type());
    graph.addOutput(write.state.output(), graph.add(write.update.op(), cache, fresh, position));
  }

  /** Whether new keys or values, more than one, can be written to the cache at position 0. */
  private static boolean fits(Node update, TensorType fresh) {
    Structured.CacheUpdate op = (Structured.CacheUpdate) update.op();
    TensorType cache = update.operand(0).type();
    return !op.circular()
        && update.operand(2).type().shape().elements() == 1
        && fresh.rank() == cache.rank()
        && fresh.with(fresh.shape().with(op.axis(), cache.dim(op.axis()))).equals(cache)
        && fresh.dim(op.axis()).value() <= cache.dim(op.axis()).value();
  }

  /** Requires that the prompt's model has all matrices of the decoder. */
  private void requireSameModel() {
    Set<String> known = new HashSet<>(matrices(prompt.graph()));
    List<String> own = matrices(step.graph());
    if (own.isEmpty() || !known.containsAll(own)) {
      long others = own.stream().filter(matrix -> !known.contains(matrix)).count();
      throw refused(
          "the weights of the decoder",
          "other values in " + others + " of " + own.size() + " matrices");
    }
  }

  /** The hashes of the weights of linears and networks, as they are stored. */
  private static List<String> matrices(Graph graph) {
    List<String> hashes = new ArrayList<>();
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Linear || node.op() instanceof Structured.Ffn) {
        node.operands().stream()
            .map(PromptEntry::stored)
            .flatMap(Optional::stream)
            .filter(data -> data.shape().rank() >= 2)
            .forEach(data -> hashes.add(new TensorHash().add(data).text()));
      }
    }
    return hashes;
  }

  private static Optional<Tensor> stored(Value value) {
    Node node = value.definition();
    if (node != null && node.op() instanceof Quantized.Dequantize) {
      node = node.operand(0).definition();
    }
    return node == null ? Optional.empty() : node.constant();
  }

  private PartitaException refused(String expected, Object found) {
    return Entries.noChunks(
        option, expected, found.toString(), "name the export without cache of the same model");
  }
}
