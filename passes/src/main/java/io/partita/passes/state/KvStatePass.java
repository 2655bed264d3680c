package io.partita.passes.state;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.passes.Pass;
import io.partita.passes.PassCode;
import io.partita.passes.simplify.SimplifyPass;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Turns a decoder whose KV cache comes in as inputs and goes out, longer, as outputs into one that
 * keeps caches of a fixed number of positions as state.
 *
 * <p>Cache inputs and outputs become {@code [batch, kvHeads, capacity, d]} and are written at the
 * position: the model's own input of positions, or a new input {@code position: i64[batch]}.
 * Padding masks over past and new tokens go away, since a decoder's tokens are all real. The past's
 * length, where the model computes with it, becomes the position of the first sequence, so all
 * sequences of a batch have to be equally long then, as they have to be in the original.
 */
public final class KvStatePass implements Pass {
  private final long capacity;
  private final Consumer<Diagnostic> notes;

  /**
   * @param capacity positions of each cache
   * @param notes takes what the user should know although it stops nothing
   */
  public KvStatePass(long capacity, Consumer<Diagnostic> notes) {
    if (capacity < 1) {
      throw new IllegalArgumentException("a cache needs at least one position");
    }
    this.capacity = capacity;
    this.notes = notes;
  }

  @Override
  public String name() {
    return "kv-state";
  }

  @Override
  public String purpose() {
    return "keep the KV cache as state of fixed capacity";
  }

  @Override
  public Set<Property> requires() {
    return EnumSet.of(Property.RAISED);
  }

  @Override
  public Set<Property> establishes() {
    return EnumSet.of(Property.STATEFUL);
  }

  /** Whether some attention reads keys that an input holds. */
  public static boolean applies(Module module) {
    return !new Decoder(module.graph()).caches().isEmpty();
  }

  /** The length of the past where it's a number: such a decoder runs for one length only. */
  public static OptionalLong fixedPast(Module module) {
    return new Decoder(module.graph())
        .caches().stream()
            .map(CachedValues::pastLength)
            .filter(Dim::isStatic)
            .mapToLong(Dim::value)
            .findFirst();
  }

  /**
   * @throws PartitaException with {@link PassCode#NO_CACHE} when there's no cache, or a cache, a
   *     mask or a position that can't be kept as state
   */
  @Override
  public Module run(Module module) {
    Decoder decoder = new Decoder(module.graph());
    if (decoder.caches().isEmpty()) {
      throw noCache("the model", "attention over a past input joined with new keys", "none");
    }
    Dim past = decoder.pastLength();
    Graph bound =
        DimensionBinding.bind(module.graph(), decoder.totals(past.plus(decoder.newLength())));
    GraphEditor graph = new GraphEditor(bound);
    List<Module.State> states = new Conversion(graph, past, capacity).convert();
    dropMasks(graph, module.graph());
    SimplifyPass.simplify(graph, List.of());
    Graph result = graph.freeze();
    verifyFixed(result, past.toString());
    return new Module(result, states);
  }

  /** Inputs that fed masks only, which are gone. */
  private void dropMasks(GraphEditor graph, Graph original) {
    Map<Value, List<Node>> readers = original.readers();
    List<String> read = new ArrayList<>();
    original.inputs().stream().filter(readers::containsKey).forEach(in -> read.add(in.name()));
    for (Value input : List.copyOf(graph.inputs())) {
      boolean isMask = input.name().toLowerCase(Locale.ROOT).contains("mask");
      if (graph.uses(input) == 0 && (isMask || read.contains(input.name()))) {
        graph.removeInput(input);
        notes.accept(
            new Diagnostic(
                PassCode.MASK_DROPPED,
                "input \"" + input.name() + "\"",
                "ones for all tokens, past and new",
                "a mask that only hides padding; the input is gone",
                "leave padding out of what is decoded"));
      }
    }
  }

  private static void verifyFixed(Graph graph, String past) {
    for (Value input : graph.inputs()) {
      if (input.type().shape().dims().stream().anyMatch(dim -> dim.symbols().contains(past))) {
        throw noCache(
            "input \"" + input.name() + "\"",
            "no use of it but in attention masks",
            "its length " + input.type() + " depends on the past");
      }
    }
    for (Node node : graph.nodes()) {
      boolean isOpen =
          node.results().stream()
                  .flatMap(result -> result.type().shape().dims().stream())
                  .anyMatch(dim -> dim.symbols().contains(past))
              || node.op() instanceof Structured.Attention attention
                  && attention.offset().symbols().contains(past)
              || node.op() instanceof io.partita.ir.op.Source.Extent(Dim size)
                  && size.symbols().contains(past);
      if (isOpen) {
        throw noCache(
            "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")",
            "no length of the past beyond caches, masks and positions",
            node.results().getFirst().type().toString());
      }
    }
  }

  static PartitaException noCache(String where, String expected, String found) {
    return new PartitaException(
        PassCode.NO_CACHE,
        where,
        expected,
        found,
        "export the decoder with past keys and values as inputs [batch, kvHeads, past, d] and the"
            + " joined ones as outputs, or compile it without kv-state");
  }
}
