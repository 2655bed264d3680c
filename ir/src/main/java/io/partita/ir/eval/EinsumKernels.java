package io.partita.ir.eval;

import io.partita.ir.op.Contraction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Sums of products by an einsum equation. */
final class EinsumKernels {
  private EinsumKernels() {}

  static Tensor einsum(Contraction.Einsum einsum, List<Tensor> operands, TensorType type) {
    return isProduct(einsum)
        ? product(einsum, operands.get(0), operands.get(1), type)
        : general(einsum, operands, type);
  }

  /**
   * Whether there are two operands without diagonals, and every index of only one operand is in the
   * result.
   */
  private static boolean isProduct(Contraction.Einsum einsum) {
    List<String> inputs = einsum.inputs();
    if (inputs.size() != 2 || !isDistinct(einsum.output())) {
      return false;
    }
    String left = inputs.get(0);
    String right = inputs.get(1);
    return isDistinct(left)
        && isDistinct(right)
        && without(without(left, right), einsum.output()).isEmpty()
        && without(without(right, left), einsum.output()).isEmpty();
  }

  private static boolean isDistinct(String letters) {
    return letters.chars().distinct().count() == letters.length();
  }

  private static String without(String letters, String others) {
    return filtered(letters, others, false);
  }

  private static String within(String letters, String others) {
    return filtered(letters, others, true);
  }

  private static String filtered(String letters, String others, boolean keep) {
    return letters
        .chars()
        .filter(letter -> others.indexOf(letter) >= 0 == keep)
        .mapToObj(Character::toString)
        .collect(Collectors.joining());
  }

  /** Computes a batched matrix product of transposed operands. */
  private static Tensor product(
      Contraction.Einsum einsum, Tensor left, Tensor right, TensorType type) {
    String x = einsum.inputs().get(0);
    String y = einsum.inputs().get(1);
    String out = einsum.output();
    String shared = within(x, y);
    String batch = within(shared, out);
    String inner = without(shared, out);
    String rows = without(x, y);
    String columns = without(y, x);
    Tensor a = arranged(left, x, batch, rows, inner);
    Tensor b = arranged(right, y, batch, inner, columns);
    long m = a.shape().extent(1);
    long n = b.shape().extent(2);
    TensorType flat = type.with(Shape.of(a.shape().extent(0), m, n));
    String natural = batch + rows + columns;
    List<io.partita.ir.type.Dim> dims = new ArrayList<>();
    for (char letter : natural.toCharArray()) {
      dims.add(type.dim(out.indexOf(letter)));
    }
    Tensor sums = MatrixKernels.matMul(a, b, flat).reshaped(new Shape(dims));
    return MovementKernels.transpose(sums, order(natural, out), type);
  }

  /** Returns the operand with its indices in three groups, each merged to one dimension. */
  private static Tensor arranged(Tensor x, String letters, String... groups) {
    List<Integer> permutation = order(letters, String.join("", groups));
    Shape shape = new Shape(permutation.stream().map(axis -> x.shape().dim(axis)).toList());
    Tensor turned = MovementKernels.transpose(x, permutation, x.type().with(shape));
    long[] extents = new long[groups.length];
    int axis = 0;
    for (int i = 0; i < groups.length; i++) {
      extents[i] = shape.range(axis, axis + groups[i].length()).elements();
      axis += groups[i].length();
    }
    return turned.reshaped(Shape.of(extents));
  }

  /** Returns the position of each letter of {@code to} in {@code from}. */
  private static List<Integer> order(String from, String to) {
    return to.chars().mapToObj(letter -> from.indexOf(letter)).toList();
  }

  /** Sums term by term over all indices. */
  private static Tensor general(Contraction.Einsum einsum, List<Tensor> operands, TensorType type) {
    TreeMap<Character, Long> extents = new TreeMap<>();
    List<String> inputs = einsum.inputs();
    for (int i = 0; i < inputs.size(); i++) {
      for (int axis = 0; axis < inputs.get(i).length(); axis++) {
        extents.put(inputs.get(i).charAt(axis), operands.get(i).shape().extent(axis));
      }
    }
    String out = einsum.output();
    String kept =
        out.chars().distinct().mapToObj(Character::toString).collect(Collectors.joining());
    String all = extents.keySet().stream().map(String::valueOf).collect(Collectors.joining());
    int[][] rows = offsets(inputs, operands, kept, extents);
    int[][] terms = offsets(inputs, operands, without(all, out), extents);
    int[] targets =
        offsets(
            List.of(out),
            List.of(RawElements.zeros(type.element(), size(type)).toTensor(type)),
            kept,
            extents)[0];
    return type.element().isFloat()
        ? doubles(operands, rows, terms, targets, type)
        : longs(operands, rows, terms, targets, type);
  }

  private static int size(TensorType type) {
    return Math.toIntExact(type.shape().elements());
  }

  /** Returns the offsets of each operand over the index space of {@code letters}. */
  private static int[][] offsets(
      List<String> inputs,
      List<Tensor> operands,
      String letters,
      TreeMap<Character, Long> extents) {
    long[] space = letters.chars().mapToLong(letter -> extents.get((char) letter)).toArray();
    int count = Math.toIntExact(Shape.of(space).elements());
    int[][] offsets = new int[operands.size()][count];
    for (int operand = 0; operand < offsets.length; operand++) {
      String axes = inputs.get(operand);
      long[] own = operands.get(operand).shape().strides();
      // A repeated letter selects the diagonal.
      long[] strides =
          letters
              .chars()
              .mapToLong(
                  letter ->
                      IntStream.range(0, axes.length())
                          .filter(axis -> axes.charAt(axis) == letter)
                          .mapToLong(axis -> own[axis])
                          .sum())
              .toArray();
      int[] target = offsets[operand];
      Lines lines = new Lines(space, strides);
      int stride = lines.stride(0);
      lines.forEach(
          (position, start, length) -> {
            for (int i = 0; i < length; i++) {
              target[position + i] = start[0] + i * stride;
            }
          });
    }
    return offsets;
  }

  private static Tensor doubles(
      List<Tensor> operands, int[][] rows, int[][] terms, int[] targets, TensorType type) {
    double[][] in = operands.stream().map(Tensor::doubles).toArray(double[][]::new);
    double[] out = new double[size(type)];
    ParallelTasks.run(
        targets.length,
        (long) targets.length * terms[0].length,
        row -> {
          double sum = 0;
          for (int term = 0; term < terms[0].length; term++) {
            double factor = 1;
            for (int i = 0; i < in.length; i++) {
              factor *= in[i][rows[i][row] + terms[i][term]];
            }
            sum += factor;
          }
          out[targets[row]] = sum;
        });
    return Tensor.ofDoubles(type, out);
  }

  private static Tensor longs(
      List<Tensor> operands, int[][] rows, int[][] terms, int[] targets, TensorType type) {
    long[][] in = operands.stream().map(Tensor::longs).toArray(long[][]::new);
    long[] out = new long[size(type)];
    for (int row = 0; row < targets.length; row++) {
      for (int term = 0; term < terms[0].length; term++) {
        long factor = 1;
        for (int i = 0; i < in.length; i++) {
          factor *= in[i][rows[i][row] + terms[i][term]];
        }
        out[targets[row]] += factor;
      }
    }
    return Tensor.ofLongs(type, out);
  }
}
