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
 * Turns a decoder whose KV cache comes in as inputs and goes out, longer, as outputs into one that
 * keeps caches of a fixed number of positions as state.
 *
 * <p>An attention's keys and values become states {@code [batch, kvHeads, capacity, d]} that are
 * written at the position: the model's own input of positions, or a new input {@code position:
 * i64[batch]}. All tokens are real, so what depends on positions alone is known when compiling:
 * masks become rules of positions, a bias or a table; inputs that only hid padding go away. The
 * past's length, where the model computes with it, becomes the position of the first sequence, so
 * all sequences of a batch have to be equally long then, as they have to be in the original.
 */
public final class KvStatePass implements ModulePass {
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

  /** Positions of each cache. */
  public long capacity() {
    return capacity;
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

  private static Decoder decoder(Module module) {
    return new Decoder(CacheBorder.move(module.graph()));
  }

  /** Whether some attention reads keys that an input holds. */
  public static boolean applies(Module module) {
    return hasOwnCapacity(module) || !decoder(module).joins().isEmpty();
  }

  /**
   * What of a module that has no attention over its past looks like one; none where nothing does.
   *
   * @param lengths symbols of the past's length
   */
  public static Optional<String> unraised(Module module, Set<String> lengths) {
    return UnraisedAttention.describe(module.graph(), lengths);
  }

  /**
   * Whether the model itself writes new tokens into caches of fixed capacity: then these need no
   * more than to be kept.
   */
  public static boolean hasOwnCapacity(Module module) {
    return !UpdatedCaches.of(module.graph()).isEmpty();
  }

  /** A module that {@link #hasOwnCapacity}, with its caches as state. */
  public static Module withOwnCapacity(Module module) {
    return new Module(module.graph(), UpdatedCaches.of(module.graph()));
  }

  /** The length of the past where it's a number: such a decoder runs for one length only. */
  public static OptionalLong fixedPast(Module module) {
    return decoder(module).joins().stream()
        .map(Join::pastLength)
        .filter(Dim::isStatic)
        .mapToLong(Dim::value)
        .findFirst();
  }

  /**
   * The symbols to which the pass gives a meaning: every other one should be a number before it.
   */
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
   * The symbol of the past's length.
   *
   * @throws PartitaException with {@link PassCode#NO_CACHE} when caches don't share one
   */
  public static String pastLength(Module module) {
    return decoder(module).pastLength().toString();
  }

  /**
   * @throws PartitaException with {@link PassCode#NO_CACHE} when there's no cache, or a cache, a
   *     mask or a position that can't be kept as state; with {@link PassCode#CAPACITY_BEYOND_MODEL}
   *     when the model has fewer positions than the cache
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
   * As {@link #run}.
   *
   * @throws CapacityBeyondModel when the model has fewer positions than the cache
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

  /** Inputs that the position decides and nobody needs any more. */
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
                "ones for all tokens, past and new",
                "a mask that only hides padding; the input is gone",
                "leave padding out of what is decoded"));
      }
    }
  }

  private static Diagnostic lookingAhead(Node node, Dim fresh) {
    return new Diagnostic(
        PassCode.TOKENS_SEE_LATER_ONES,
        "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")",
        "a mask that hides from each of " + fresh + " new tokens those behind it",
        "none: the model as it was exported is a decoder for one token at a time only",
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
