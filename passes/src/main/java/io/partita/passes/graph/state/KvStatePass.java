package io.partita.passes.graph.state;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.type.Dim;
import io.partita.passes.ModulePass;
import io.partita.passes.PassCode;
import io.partita.passes.graph.simplify.SimplifyPass;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Converts a decoder whose KV cache is an input and, extended, an output, to one whose state is a
 * cache of fixed capacity.
 *
 * <p>Keys and values of attentions become states {@code [batch, kvHeads, capacity, d]}, which are
 * written at the position: the model's own input of positions, or a new input {@code position:
 * i64[batch]}. All tokens are real, so values that depend on positions alone are known at compile
 * time: masks become causal or windowed attention, a bias or a table, and inputs that only hid
 * padding are removed. If the model computes with the length of the past, it becomes the position
 * of the first sequence. All sequences of a batch must then have the same length, as in the
 * original model.
 */
public final class KvStatePass implements ModulePass {
  private final long capacity;
  private final Consumer<Diagnostic> notes;

  /**
   * @param capacity the number of positions of each cache
   * @param notes receives notes for the user
   */
  public KvStatePass(long capacity, Consumer<Diagnostic> notes) {
    if (capacity < 1) {
      throw new IllegalArgumentException("a cache needs at least one position");
    }
    this.capacity = capacity;
    this.notes = notes;
  }

  /** The number of positions of each cache. */
  public long capacity() {
    return capacity;
  }

  @Override
  public String name() {
    return "kv-state";
  }

  @Override
  public String purpose() {
    return "turn the KV cache into a state of fixed capacity";
  }

  @Override
  public Set<Property> requires() {
    return EnumSet.of(Property.RAISED);
  }

  @Override
  public Set<Property> establishes() {
    return EnumSet.of(Property.STATEFUL);
  }

  private static Decoder decoder(Module module) {
    return new Decoder(CacheBorder.move(module.graph()));
  }

  /** Whether any attention uses keys of an input. */
  public static boolean applies(Module module) {
    return hasOwnCapacity(module) || !decoder(module).joins().isEmpty();
  }

  /**
   * Describes what looks like attention over the past in a module without such an attention; empty
   * if nothing does.
   *
   * @param lengths the symbols of the length of the past
   */
  public static Optional<String> unraised(Module module, Set<String> lengths) {
    return UnraisedAttention.describe(module.graph(), lengths);
  }

  /**
   * Whether the model itself writes new tokens to caches of fixed capacity, which then only need to
   * become state.
   */
  public static boolean hasOwnCapacity(Module module) {
    return !UpdatedCaches.of(module.graph()).isEmpty();
  }

  /** Returns a module that {@link #hasOwnCapacity}, with its caches as state. */
  public static Module withOwnCapacity(Module module) {
    return new Module(module.graph(), UpdatedCaches.of(module.graph()));
  }

  /** Returns the length of the past if it is a number; such a decoder runs for one length only. */
  public static OptionalLong fixedPast(Module module) {
    return decoder(module).joins().stream()
        .map(Join::pastLength)
        .filter(Dim::isStatic)
        .mapToLong(Dim::value)
        .findFirst();
  }

  /** Returns the symbols that the pass interprets; all others should be bound before. */
  public static Set<String> ownSymbols(Module module) {
    Decoder decoder = decoder(module);
    Set<String> symbols = new TreeSet<>();
    decoder.joins().forEach(join -> symbols.addAll(join.pastLength().symbols()));
    if (!symbols.isEmpty()) {
      Dim total = decoder.joins().getFirst().pastLength().plus(decoder.newLength());
      symbols.addAll(decoder.totals(total).keySet());
    }
    return symbols;
  }

  /**
   * Returns the symbol of the length of the past.
   *
   * @throws PartitaException with {@link PassCode#NO_CACHE} if caches don't share one
   */
  public static String pastLength(Module module) {
    return decoder(module).pastLength().toString();
  }

  /**
   * @throws PartitaException with {@link PassCode#NO_CACHE} if there is no cache, or a cache, mask
   *     or position can't become state; with {@link PassCode#CAPACITY_BEYOND_MODEL} if the model
   *     has fewer positions than the cache
   */
  @Override
  public Module run(Module module) {
    try {
      return keep(module);
    } catch (CapacityBeyondModel beyond) {
      throw beyond.diagnosed("choose kv-state(capacity=" + beyond.positions() + "), or less");
    }
  }

  /**
   * Like {@link #run}.
   *
   * @throws CapacityBeyondModel if the model has fewer positions than the cache
   */
  public Module keep(Module module) {
    if (hasOwnCapacity(module)) {
      return withOwnCapacity(module);
    }
    Decoder decoder = decoder(module);
    if (decoder.joins().isEmpty()) {
      throw noCache("the model", "attention over a past input joined with new keys", "none");
    }
    Dim past = decoder.pastLength();
    Dim fresh = decoder.newLength();
    Graph bound =
        DimensionBinding.bind(CacheBorder.move(module.graph()), decoder.totals(past.plus(fresh)));
    GraphEditor graph = new GraphEditor(bound);
    Conversion conversion = new Conversion(graph, new Decoder(bound).joins(), capacity);
    List<Module.State> states = conversion.convert();
    conversion.lookingAhead().ifPresent(node -> notes.accept(lookingAhead(node, fresh)));
    dropInputs(graph, bound, conversion.filled());
    SimplifyPass.simplify(graph, List.of());
    Graph open = graph.freeze();
    OpenValues.verify(open, past.toString(), conversion.lengthened());
    Map<String, Dim> lengths = Map.of(past.toString(), Dim.of(capacity).minus(fresh));
    GraphEditor closed = new GraphEditor(DimensionBinding.bind(open, lengths));
    conversion.lengthened().close(closed);
    return new Module(closed.freeze(), states);
  }

  /** Removes unused inputs that are determined by the position. */
  private void dropInputs(GraphEditor graph, Graph original, FilledInputs filled) {
    graph.dropDead();
    Map<Value, List<Node>> readers = original.readers();
    for (Value input : List.copyOf(graph.inputs())) {
      boolean isDecided =
          filled.contains(input)
              || input.name().toLowerCase(Locale.ROOT).contains("mask")
              || readers.containsKey(input);
      if (graph.uses(input) == 0 && isDecided) {
        graph.removeInput(input);
        notes.accept(
            new Diagnostic(
                PassCode.MASK_DROPPED,
                "input \"" + input.name() + "\"",
                "ones for all past and new tokens",
                "a mask that only hides padding; the input was removed",
                "decode tokens without padding"));
      }
    }
  }

  private static Diagnostic lookingAhead(Node node, Dim fresh) {
    return new Diagnostic(
        PassCode.TOKENS_SEE_LATER_ONES,
        "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")",
        "a mask that hides from each of " + fresh + " new tokens the later ones",
        "none: the exported model decodes only one token at a time",
        "give it one token at a time");
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
