package io.partita.ir.type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The extents of a tensor, outermost first; empty for a scalar. */
public record Shape(List<Dim> dims) implements Iterable<Dim> {
  public static final Shape SCALAR = new Shape(List.of());

  public Shape {
    dims = List.copyOf(dims);
  }

  public static Shape of(long... extents) {
    return new Shape(Arrays.stream(extents).mapToObj(Dim::of).toList());
  }

  public static Shape of(Dim... dims) {
    return new Shape(List.of(dims));
  }

  public int rank() {
    return dims.size();
  }

  public Dim dim(int axis) {
    return dims.get(axis);
  }

  /** Returns a dimension, counted from the innermost, which is 0. */
  public Dim fromEnd(int axis) {
    return dims.get(dims.size() - 1 - axis);
  }

  public boolean isStatic() {
    return dims.stream().allMatch(Dim::isStatic);
  }

  /** Returns the extents as numbers. */
  public long[] extents() {
    return dims.stream().mapToLong(Dim::value).toArray();
  }

  public long extent(int axis) {
    return dims.get(axis).value();
  }

  /**
   * Returns the number of elements, 1 for a scalar.
   *
   * @throws ArithmeticException if it overflows a long
   */
  public long elements() {
    long product = 1;
    for (Dim dim : dims) {
      product = Math.multiplyExact(product, dim.value());
    }
    return product;
  }

  /** Returns the number of elements as a polynomial. */
  public Dim size() {
    return dims.stream().reduce(Dim.ONE, Dim::times);
  }

  public Shape with(int axis, Dim dim) {
    List<Dim> changed = new ArrayList<>(dims);
    changed.set(axis, dim);
    return new Shape(changed);
  }

  public Shape without(int axis) {
    List<Dim> changed = new ArrayList<>(dims);
    changed.remove(axis);
    return new Shape(changed);
  }

  public Shape insert(int axis, Dim dim) {
    List<Dim> changed = new ArrayList<>(dims);
    changed.add(axis, dim);
    return new Shape(changed);
  }

  /** Returns the dimensions {@code from} inclusive to {@code to} exclusive. */
  public Shape range(int from, int to) {
    return new Shape(dims.subList(from, to));
  }

  public Shape concat(Shape inner) {
    return new Shape(Stream.concat(dims.stream(), inner.dims.stream()).toList());
  }

  /** Returns the row-major strides in elements. */
  public long[] strides() {
    long[] strides = new long[rank()];
    long stride = 1;
    for (int axis = rank() - 1; axis >= 0; axis--) {
      strides[axis] = stride;
      stride = Math.multiplyExact(stride, dims.get(axis).value());
    }
    return strides;
  }

  public Shape bind(Map<String, Dim> extents) {
    return isStatic() ? this : new Shape(dims.stream().map(dim -> dim.bind(extents)).toList());
  }

  /**
   * Returns the shape to which {@code left} and {@code right} broadcast by NumPy's rule, or null if
   * they don't: trailing dimensions are aligned, and extents of 1 are repeated.
   */
  public static Shape broadcast(Shape left, Shape right) {
    int rank = Math.max(left.rank(), right.rank());
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      int l = axis - (rank - left.rank());
      int r = axis - (rank - right.rank());
      Dim a = l < 0 ? Dim.ONE : left.dim(l);
      Dim b = r < 0 ? Dim.ONE : right.dim(r);
      if (a.equals(b) || b.is(1)) {
        dims.add(a);
      } else if (a.is(1)) {
        dims.add(b);
      } else {
        return null;
      }
    }
    return new Shape(dims);
  }

  @Override
  public Iterator<Dim> iterator() {
    return dims.iterator();
  }

  /** {@code [1,seq,64]}. */
  @Override
  public String toString() {
    return dims.stream().map(Dim::toString).collect(Collectors.joining(",", "[", "]"));
  }
}
