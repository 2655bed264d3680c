package io.partita.ir.op;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.mesh.Variations;
import io.partita.ir.message.Actions;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/** Operations that exchange data between devices, or change how they hold it. */
public sealed interface Communication extends Op {
  /** A change of layout in the mesh dialect. The whole value stays the same. */
  sealed interface Relayout extends Communication {
    Layout to();

    /**
     * Returns the change from one layout to another: a sync if devices exchange elements, otherwise
     * a reshard.
     *
     * @throws io.partita.ir.diagnostic.PartitaException with {@link
     *     io.partita.ir.mesh.MeshCode#RESHARD} if there is no such change
     */
    static Relayout of(Layout from, Layout to) {
      SequencedMap<String, SyncKind> kinds = new Resharding(from, to).kinds();
      return kinds.isEmpty() ? new Reshard(to) : new Sync(kinds, to, Optional.empty(), Codec.EXACT);
    }

    @Override
    default List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      Require.that(
          operands.getFirst().rank() == to().rank(),
          "a tensor of rank " + to().rank(),
          operands.getFirst());
      return operands;
    }
  }

  /**
   * A change of layout without communication: each device keeps a part of its data, or its value
   * becomes a term of a sum.
   */
  record Reshard(Layout to) implements Relayout {
    @Override
    public String mnemonic() {
      return "reshard";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("to", to.toString());
    }
  }

  /**
   * A change of layout that needs communication: a sync point.
   *
   * @param kinds the kind of exchange along each mesh axis, as {@link Resharding#kinds} derives it
   * @param algorithm the communication pattern; empty until it is chosen
   * @param codec the encoding of the elements
   */
  record Sync(
      SequencedMap<String, SyncKind> kinds, Layout to, Optional<Algorithm> algorithm, Codec codec)
      implements Relayout {
    public Sync {
      kinds = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(kinds));
    }

    public Sync with(Algorithm chosen) {
      return new Sync(kinds, to, Optional.of(chosen), codec);
    }

    public Sync with(Codec chosen) {
      return new Sync(kinds, to, algorithm, chosen);
    }

    @Override
    public String mnemonic() {
      return "sync";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("kind", SyncKind.text(kinds));
      attributes.text("to", to.toString());
      algorithm.ifPresent(chosen -> attributes.text("algorithm", chosen.toString()));
      if (!codec.equals(Codec.EXACT)) {
        attributes.text("codec", codec.toString());
      }
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      List<TensorType> results = Relayout.super.resultTypes(operands);
      ElementType element = results.getFirst().element();
      Require.that(codec.encodes(element), "elements that " + codec + " encodes", element);
      return results;
    }
  }

  /**
   * The begin or end of a variation over a mesh axis, in the mesh dialect. Nothing is communicated,
   * but the meaning of the graph changes, because devices no longer compute on the same value. If
   * all devices have the same value, these operations are identities.
   */
  sealed interface Variation extends Communication {
    String axis();

    /**
     * Returns the layout of the result.
     *
     * @throws io.partita.ir.diagnostic.PartitaException with {@link
     *     io.partita.ir.mesh.MeshCode#ENTRY} or {@link io.partita.ir.mesh.MeshCode#EXIT} if the
     *     operands have other layouts than required
     */
    Layout layout(List<Layout> operands);
  }

  /**
   * Each device along an axis continues with its own term of a sum, maximum or minimum: a dropped
   * sync point.
   */
  record Localize(String axis) implements Variation {
    @Override
    public String mnemonic() {
      return "localize";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      return operands;
    }

    @Override
    public Layout layout(List<Layout> operands) {
      return Variations.localized(operands.getFirst(), axis);
    }
  }

  /**
   * Each device along an axis gets the first operand, with its own part of the second operand
   * inserted: its view of a sequence of which it knows the other parts approximately.
   *
   * @param dim the dimension of the second operand that the axis splits
   */
  record Overlay(String axis, int dim) implements Variation {
    @Override
    public String mnemonic() {
      return "overlay";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("axis", axis);
      attributes.integer("dim", dim);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType base = operands.getFirst();
      Require.that(operands.getLast().equals(base), base, operands.getLast());
      Require.that(dim >= 0 && dim < base.rank(), "a tensor with dimension " + dim, base);
      return List.of(base);
    }

    @Override
    public Layout layout(List<Layout> operands) {
      return Variations.overlaid(operands.getFirst(), operands.getLast(), axis, dim);
    }
  }

  /**
   * The chosen places along an axis continue with the first operand, the others with the second.
   * The third operand, a whole {@code bool[places]}, marks the chosen places at run time. Each
   * place reads only its own operand, so the other one may be {@linkplain Gate absent} there.
   */
  record Fork(String axis) implements Variation {
    @Override
    public String mnemonic() {
      return "fork";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("axis", axis);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType x = operands.getFirst();
      Require.that(operands.get(1).equals(x), x, operands.get(1));
      Require.element(operands.get(2), ElementType.BOOL, "the chosen places");
      Require.rank(operands.get(2), 1, "the chosen places");
      return List.of(x);
    }

    @Override
    public Layout layout(List<Layout> operands) {
      return Variations.forked(operands, axis);
    }
  }

  /**
   * The first operand, on devices where the second one, a {@code bool[]}, is true. On other devices
   * the result is absent. So is the result of each operation that reads an absent value: the device
   * skips it. All that depends on a gate is a guarded region; it ends where a {@link Fork}, a
   * {@link Settle} by priority, or a select by a scalar doesn't read the absent operand. Devices
   * that exchange a gated value have equal conditions.
   */
  record Gate() implements Communication {
    @Override
    public String mnemonic() {
      return "gate";
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType condition = TensorType.scalar(ElementType.BOOL);
      Require.that(operands.getLast().equals(condition), condition, operands.getLast());
      return List.of(operands.getFirst());
    }
  }

  /** Ends a variation over an axis. */
  record Settle(String axis, Exit exit) implements Variation {
    @Override
    public String mnemonic() {
      return "settle";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("axis", axis);
      attributes.text("by", exit.toString());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      TensorType x = operands.isEmpty() ? null : operands.getFirst();
      Require.count(operands, exit instanceof Exit.Priority ? 2 : 1);
      Require.that(exit.takes(x.element()), "elements that settle by " + exit + " takes", x);
      if (exit instanceof Exit.Priority(int devices)) {
        TensorType accepted = TensorType.of(ElementType.BOOL, devices);
        Require.that(operands.getLast().equals(accepted), accepted, operands.getLast());
      }
      return exit instanceof Exit.Stack(int devices)
          ? List.of(x.with(stacked(devices, x.shape())))
          : List.of(x);
    }

    private static Shape stacked(int devices, Shape shape) {
      List<Dim> dims = new ArrayList<>(List.of(Dim.of(devices)));
      dims.addAll(shape.dims());
      return new Shape(dims);
    }

    @Override
    public Layout layout(List<Layout> operands) {
      return Variations.settled(operands, axis, exit);
    }
  }

  /**
   * The messages of one device in a collective, in the program dialect. The collective is defined
   * on a vector of {@code elements} elements that is common to all its devices. The operand is the
   * packed part that the device holds before, and the result the packed part that it holds after
   * the exchange.
   *
   * @param sync the number of the collective, the same on all devices that take part
   * @param before the part of the operand; if empty, there is no operand
   * @param after the part of the result; if empty, the result has extent 0
   * @param steps the messages, one after the other
   */
  record Exchange(
      int sync,
      long elements,
      ElementType element,
      List<Slice> before,
      List<Slice> after,
      List<Step> steps)
      implements Communication {
    public Exchange {
      before = List.copyOf(before);
      after = List.copyOf(after);
      steps = List.copyOf(steps);
    }

    /** Whether slices are the whole vector, in order. */
    public boolean isWhole(List<Slice> slices) {
      return slices.equals(List.of(new Slice(0, elements)));
    }

    /** Whether another exchange goes on with all elements of this one, which are in place. */
    public boolean isContinuedBy(Exchange rest) {
      return sync == rest.sync && after.equals(before) && rest.before.equals(before);
    }

    /** Returns this exchange and the rest of it as one. */
    public Exchange with(Exchange rest) {
      List<Step> all = new ArrayList<>(steps);
      all.addAll(rest.steps);
      return new Exchange(sync, elements, element, before, rest.after, all);
    }

    /** Returns what the device does for its messages, in order. */
    public Actions actions() {
      return Actions.of(steps);
    }

    @Override
    public String mnemonic() {
      return "exchange";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("sync", sync);
      attributes.integer("elements", elements);
      attributes.word("element", element.text());
      attributes.text("before", Slice.text(before));
      attributes.text("after", Slice.text(after));
      attributes.text("steps", Step.text(steps));
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, before.isEmpty() ? 0 : 1);
      if (!before.isEmpty()) {
        TensorType given =
            new TensorType(element, new Shape(List.of(Dim.of(Slice.elements(before)))));
        Require.that(operands.getFirst().equals(given), given, operands.getFirst());
      }
      return List.of(new TensorType(element, new Shape(List.of(Dim.of(Slice.elements(after))))));
    }
  }
}
