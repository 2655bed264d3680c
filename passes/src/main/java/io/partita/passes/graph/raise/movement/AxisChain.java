package io.partita.passes.graph.raise.movement;

import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The effect of a chain of reshapes and transposes on the axes of its operand: each axis is cut
 * into atoms, which are permuted and joined to the axes of the result. Axes of extent 1 have no
 * atoms.
 */
final class AxisChain {
  /** A piece of an axis. It may be cut further while the chain grows. */
  private static final class Atom {
    final Dim extent;
    Atom outer;
    Atom inner;

    Atom(Dim extent) {
      this.extent = extent;
    }

    void appendTo(List<Atom> atoms) {
      if (outer == null) {
        atoms.add(this);
      } else {
        outer.appendTo(atoms);
        inner.appendTo(atoms);
      }
    }
  }

  private final Shape base;
  private final List<List<Atom>> baseAxes;
  private Shape shape;
  private List<List<Atom>> axes;

  AxisChain(Shape base) {
    this.base = base;
    this.shape = base;
    this.baseAxes = new ArrayList<>();
    for (Dim dim : base) {
      baseAxes.add(dim.is(1) ? List.of() : List.of(new Atom(dim)));
    }
    this.axes = baseAxes;
  }

  void transpose(List<Integer> permutation) {
    axes = permutation.stream().map(axes::get).toList();
    shape = new Shape(permutation.stream().map(shape::dim).toList());
  }

  /** Returns false if the extents can't be proven to be products of common atoms. */
  boolean reshape(Shape to) {
    List<Atom> atoms = new ArrayList<>(leaves(axes.stream().flatMap(List::stream).toList()));
    List<List<Atom>> result = new ArrayList<>();
    for (Dim target : to) {
      List<Atom> axis = new ArrayList<>();
      Dim missing = target;
      while (!missing.is(1)) {
        if (atoms.isEmpty()) {
          return false;
        }
        Atom next = atoms.removeFirst();
        Dim rest = missing.dividedExactlyBy(next.extent);
        if (rest != null) {
          axis.add(next);
          missing = rest;
        } else {
          Dim inner = next.extent.dividedExactlyBy(missing);
          if (inner == null) {
            return false;
          }
          next.outer = new Atom(missing);
          next.inner = new Atom(inner);
          axis.add(next.outer);
          atoms.addFirst(next.inner);
          missing = Dim.ONE;
        }
      }
      result.add(axis);
    }
    if (!atoms.isEmpty()) {
      return false;
    }
    axes = result;
    shape = to;
    return true;
  }

  private static List<Atom> leaves(List<Atom> atoms) {
    List<Atom> leaves = new ArrayList<>();
    atoms.forEach(atom -> atom.appendTo(leaves));
    return leaves;
  }

  /**
   * Returns the shortest chain of the same effect: at most a reshape, a transpose and a reshape.
   */
  List<Op> operations() {
    List<List<Atom>> from = baseAxes.stream().map(AxisChain::leaves).toList();
    List<List<Atom>> to = axes.stream().map(AxisChain::leaves).toList();
    List<Atom> before = from.stream().flatMap(List::stream).toList();
    List<Atom> after = to.stream().flatMap(List::stream).toList();
    List<Op> operations = new ArrayList<>();
    if (before.equals(after)) {
      appendReshape(operations, base, shape);
      return operations;
    }
    Units cut = new Units(before, after, from, to);
    List<Dim> split = new ArrayList<>(cut.extents(cut.before));
    List<Integer> permutation =
        new ArrayList<>(cut.after.stream().map(cut.before::indexOf).toList());
    onesOf(cut, to, from).forEach(axis -> insertOne(split, permutation, axis));
    Shape first = new Shape(split);
    appendReshape(operations, base, first);
    operations.add(new Movement.Transpose(permutation));
    Shape second = new Shape(permutation.stream().map(split::get).toList());
    appendReshape(operations, second, shape);
    return operations;
  }

  /**
   * Returns the axes of extent 1 to keep, so that they need no reshape of the operand or the
   * result.
   */
  private List<Integer> onesOf(Units cut, List<List<Atom>> to, List<List<Atom>> from) {
    if (cut.isWhole(to)) {
      return emptyAxes(to);
    }
    return cut.isWhole(from) ? emptyAxes(from) : List.of();
  }

  private static List<Integer> emptyAxes(List<List<Atom>> axes) {
    List<Integer> empty = new ArrayList<>();
    for (int axis = 0; axis < axes.size(); axis++) {
      if (axes.get(axis).isEmpty()) {
        empty.add(axis);
      }
    }
    return empty;
  }

  private static void insertOne(List<Dim> split, List<Integer> permutation, int axis) {
    permutation.replaceAll(index -> index >= axis ? index + 1 : index);
    permutation.add(axis, axis);
    split.add(axis, Dim.ONE);
  }

  private static void appendReshape(List<Op> operations, Shape from, Shape to) {
    if (!from.equals(to)) {
      operations.add(new Movement.Reshape(to));
    }
  }

  /** Merges atoms that are adjacent within one axis both before and after. */
  private static final class Units {
    final List<List<Atom>> before = new ArrayList<>();
    final List<List<Atom>> after = new ArrayList<>();

    Units(List<Atom> before, List<Atom> after, List<List<Atom>> from, List<List<Atom>> to) {
      for (Atom atom : before) {
        Atom last = this.before.isEmpty() ? null : this.before.getLast().getLast();
        int place = after.indexOf(atom);
        boolean joins =
            place > 0
                && after.get(place - 1) == last
                && axisOf(from, atom) == axisOf(from, last)
                && axisOf(to, atom) == axisOf(to, last);
        if (joins) {
          this.before.getLast().add(atom);
        } else {
          this.before.add(new ArrayList<>(List.of(atom)));
        }
      }
      for (Atom atom : after) {
        this.before.stream().filter(unit -> unit.getFirst() == atom).forEach(this.after::add);
      }
    }

    private static int axisOf(List<List<Atom>> axes, Atom atom) {
      for (int axis = 0; axis < axes.size(); axis++) {
        if (axes.get(axis).contains(atom)) {
          return axis;
        }
      }
      return -1;
    }

    List<Dim> extents(List<List<Atom>> units) {
      return units.stream()
          .map(unit -> unit.stream().map(atom -> atom.extent).reduce(Dim.ONE, Dim::times))
          .toList();
    }

    /** Whether each axis is one unit, or of extent 1. */
    boolean isWhole(List<List<Atom>> axes) {
      return axes.stream().allMatch(axis -> axis.isEmpty() || before.contains(axis));
    }
  }

  /**
   * Returns the chain of these operations on {@code base}; empty if an operation can't be followed.
   */
  static Optional<AxisChain> of(Shape base, List<Op> operations) {
    AxisChain chain = new AxisChain(base);
    for (Op operation : operations) {
      if (operation instanceof Movement.Transpose(List<Integer> permutation)) {
        chain.transpose(permutation);
      } else if (!(operation instanceof Movement.Reshape(Shape to)) || !chain.reshape(to)) {
        return Optional.empty();
      }
    }
    return Optional.of(chain);
  }
}
