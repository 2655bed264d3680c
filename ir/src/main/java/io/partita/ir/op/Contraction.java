package io.partita.ir.op;

import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Operations that sum over an index: matrix product, convolution, pooling, distances. */
public sealed interface Contraction extends Op {
  /**
   * {@code [batch…, m, k] × [batch…, k, n] -> [batch…, m, n]}, the batch dimensions broadcast. Both
   * operands have at least two dimensions. Integer operands may be narrower than the result, in
   * whose type the sums are kept, wrapping; their element types may differ in sign.
   */
  record MatMul(ElementType result) implements Contraction {
    @Override
    public String mnemonic() {
      return "matmul";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.word("result", result.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType left = operands.get(0);
      TensorType right = operands.get(1);
      requireAccumulates(left, right, result);
      Require.atLeastRank(left, 2, "a left operand");
      Require.atLeastRank(right, 2, "a right operand");
      Dim inner = left.shape().fromEnd(0);
      Require.equal(
          inner,
          right.shape().fromEnd(1),
          "equal inner extents",
          left.shape() + " and " + right.shape());
      Shape batch =
          Require.broadcast(
              left.shape().range(0, left.rank() - 2), right.shape().range(0, right.rank() - 2));
      Shape shape = batch.concat(Shape.of(left.shape().fromEnd(1), right.shape().fromEnd(0)));
      return List.of(new TensorType(result, shape));
    }
  }

  private static void requireAccumulates(TensorType left, TensorType right, ElementType result) {
    boolean floats = left.element() == right.element() && left.element() == result;
    boolean integers =
        left.element().isInteger()
            && right.element().isInteger()
            && result.isInteger()
            && result.bits() >= Math.max(left.element().bits(), right.element().bits());
    Require.that(
        integers || floats && result.isFloat(),
        "operands of the result's float type, or integers that are at most as wide as the result",
        left.element() + " and " + right.element() + " to " + result);
  }

  /** Sum of products by an equation such as {@code bij,bjk->bik}: no spaces, no ellipsis. */
  record Einsum(String equation) implements Contraction {
    @Override
    public String mnemonic() {
      return "einsum";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.text("equation", equation);
    }

    /** The index letters of operand {@code i}, a string each. */
    public List<String> inputs() {
      return List.of(equation.substring(0, equation.indexOf("->")).split(",", -1));
    }

    public String output() {
      return equation.substring(equation.indexOf("->") + 2);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.that(
          equation.matches("[A-Za-z,]*->[A-Za-z]*"), "letters, commas and an arrow", equation);
      List<String> inputs = inputs();
      Require.count(operands, inputs.size());
      java.util.Map<Character, Dim> extents = new java.util.HashMap<>();
      for (int i = 0; i < operands.size(); i++) {
        Require.rank(operands.get(i), inputs.get(i).length(), "operand " + i);
        Require.sameElement(operands.getFirst(), operands.get(i));
        for (int axis = 0; axis < operands.get(i).rank(); axis++) {
          char letter = inputs.get(i).charAt(axis);
          Dim dim = operands.get(i).dim(axis);
          Dim before = extents.putIfAbsent(letter, dim);
          Require.equal(
              before == null ? dim : before, dim, "equal extents of index " + letter, dim);
        }
      }
      List<Dim> dims = new ArrayList<>();
      for (char letter : output().toCharArray()) {
        Require.that(extents.containsKey(letter), "output indices that inputs have", equation);
        dims.add(extents.get(letter));
      }
      return List.of(operands.getFirst().with(new Shape(dims)));
    }
  }

  /**
   * {@code [n, c, spatial…] * [f, c/groups, kernel…] (+ [f])}. As for the matrix product, integer
   * operands may be narrower than the result.
   */
  record Convolution(Window window, long groups, boolean bias, ElementType result)
      implements Contraction {
    @Override
    public String mnemonic() {
      return "convolution";
    }

    @Override
    public void write(AttributeWriter attributes) {
      window.write(attributes);
      attributes.integer("groups", groups);
      attributes.flag("bias", bias);
      attributes.word("result", result.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, bias ? 3 : 2);
      TensorType data = operands.get(0);
      TensorType weight = operands.get(1);
      requireAccumulates(data, weight, result);
      Require.atLeastRank(data, 3, "data");
      Require.rank(weight, data.rank(), "a weight");
      window.verify(data.rank());
      Require.that(groups >= 1, "at least one group", groups);
      Require.equal(
          data.dim(1),
          weight.dim(1).times(Dim.of(groups)),
          weight.dim(1).times(Dim.of(groups)) + " channels",
          data);
      Require.that(
          weight.shape().range(2, weight.rank()).equals(extents(window.kernel())),
          "a weight with kernel " + window.kernel(),
          weight);
      Require.that(
          weight.dim(0).isStatic() && weight.dim(0).value() % groups == 0,
          "filters in " + groups + " equal groups",
          weight);
      requireBias(operands, bias, weight.dim(0), result);
      List<Dim> dims = new ArrayList<>(List.of(data.dim(0), weight.dim(0)));
      dims.addAll(window.places(data.shape().range(2, data.rank()), false));
      return List.of(new TensorType(result, new Shape(dims)));
    }
  }

  private static Shape extents(List<Long> kernel) {
    return new Shape(kernel.stream().map(extent -> Dim.of(extent)).toList());
  }

  private static void requireBias(
      List<TensorType> operands, boolean bias, Dim channels, ElementType result) {
    if (bias) {
      Require.that(
          operands.get(2).equals(new TensorType(result, Shape.of(channels))),
          "a bias " + result + "[" + channels + "]",
          operands.get(2));
    }
  }

  /**
   * The transpose of a convolution: {@code [n, c, spatial…] * [c, f/groups, kernel…] (+ [f])},
   * where {@code high} padding already contains what ONNX calls output padding, negated.
   */
  record TransposedConvolution(Window window, long groups, boolean bias) implements Contraction {
    @Override
    public String mnemonic() {
      return "transposed_convolution";
    }

    @Override
    public void write(AttributeWriter attributes) {
      window.write(attributes);
      attributes.integer("groups", groups);
      attributes.flag("bias", bias);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, bias ? 3 : 2);
      TensorType data = operands.get(0);
      TensorType weight = operands.get(1);
      Require.sameElement(data, weight);
      Require.that(data.element().isFloat(), "floating-point operands", data);
      Require.atLeastRank(data, 3, "data");
      Require.rank(weight, data.rank(), "a weight");
      window.verify(data.rank());
      Require.that(groups >= 1, "at least one group", groups);
      Require.equal(data.dim(1), weight.dim(0), weight.dim(0) + " channels", data);
      Dim filters = weight.dim(1).times(Dim.of(groups));
      requireBias(operands, bias, filters, data.element());
      List<Dim> dims = new ArrayList<>(List.of(data.dim(0), filters));
      for (int axis = 0; axis < window.spatialRank(); axis++) {
        Dim places = data.dim(axis + 2).plus(-1).times(Dim.of(window.strides().get(axis)));
        Dim dim =
            places.plus(window.reach(axis) - window.low().get(axis) - window.high().get(axis));
        Require.that(!dim.isStatic() || dim.value() >= 0, "an extent of 0 or more", dim);
        dims.add(dim);
      }
      return List.of(data.with(new Shape(dims)));
    }
  }

  /**
   * The largest or mean element under each place of a window on {@code [n, c, spatial…]}. Padding
   * doesn't take part, but for a mean with {@code countPadding}, where it counts as zeros. With
   * {@code indices} (largest only) there is a second result, i64: the row-major position in the
   * whole operand.
   */
  record Pool(
      boolean largest, Window window, boolean roundUp, boolean countPadding, boolean indices)
      implements Contraction {
    @Override
    public String mnemonic() {
      return largest ? "max_pool" : "mean_pool";
    }

    @Override
    public void write(AttributeWriter attributes) {
      window.write(attributes);
      attributes.flag("round_up", roundUp);
      attributes.flag("count_padding", countPadding);
      attributes.flag("indices", indices);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType data = operands.getFirst();
      Require.atLeastRank(data, 3, "data");
      Require.that(largest || data.element().isFloat(), "floating-point data for a mean", data);
      Require.that(largest || !indices, "indices only for a maximum", "a mean");
      window.verify(data.rank());
      List<Dim> dims = new ArrayList<>(List.of(data.dim(0), data.dim(1)));
      dims.addAll(window.places(data.shape().range(2, data.rank()), roundUp));
      TensorType result = data.with(new Shape(dims));
      return indices ? List.of(result, result.with(ElementType.I64)) : List.of(result);
    }
  }

  /**
   * The product of bytes with a matrix of 4-bit integers, of which each group of rows of a column
   * has a scale: {@code Σ_g f32(Σ_i x w) scale}, with exact sums in 32 bits for each group, and
   * then sums in f32 in the order of the groups, without fused multiply-adds. {@code […, groups
   * rows]}, codes {@code u8[panels, groups, 4 rows]} as of {@link NibblePanels}, and scales {@code
   * [panels, groups, 8]} of f32 or bf16, to {@code f32[…, 8 panels]}.
   */
  record NibbleMatMul() implements Contraction {
    @Override
    public String mnemonic() {
      return "nibble_matmul";
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType x = operands.get(0);
      TensorType codes = operands.get(1);
      TensorType scale = operands.get(2);
      Require.that(x.element().isByte(), "bytes", x);
      Require.atLeastRank(x, 1, "an operand");
      Require.element(codes, ElementType.U8, "codes");
      Require.rank(codes, 3, "codes");
      Require.that(
          scale.element() == ElementType.F32 || scale.element() == ElementType.BF16,
          "scales of f32 or bf16",
          scale);
      Shape scales = codes.shape().with(2, Dim.of(NibblePanels.COLUMNS));
      Require.that(scale.shape().equals(scales), "scales " + scales, scale);
      Require.that(
          codes.isStatic() && NibblePanels.isGroup(NibblePanels.rows(codes.dim(2).value())),
          "groups of a multiple of " + NibblePanels.GRANULE + " rows",
          codes);
      Dim depth = codes.dim(1).times(Dim.of(NibblePanels.rows(codes.dim(2).value())));
      Require.equal(x.shape().fromEnd(0), depth, depth + " features", x);
      Dim columns = codes.dim(0).times(Dim.of(NibblePanels.COLUMNS));
      return List.of(new TensorType(ElementType.F32, x.shape().with(x.rank() - 1, columns)));
    }
  }

  /**
   * For each group of features of a vector, the index of the nearest of the group's centroids: the
   * first with the least {@code Σ (x - e)²}, summed in f32 in the order of the features without
   * fused multiply-adds. Distances that are NaN are never the least, and without another one the
   * index is 0. {@code f32[…, groups width]} and {@code f32[groups size, width]} to {@code i32[…,
   * groups]}.
   */
  record NearestCentroid(long groups) implements Contraction {
    @Override
    public String mnemonic() {
      return "nearest_centroid";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("groups", groups);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType x = operands.get(0);
      TensorType centroids = operands.get(1);
      Require.element(x, ElementType.F32, "vectors");
      Require.element(centroids, ElementType.F32, "centroids");
      Require.atLeastRank(x, 1, "vectors");
      Require.rank(centroids, 2, "centroids");
      Require.that(groups >= 1, "at least one group", groups);
      Dim features = centroids.dim(1).times(Dim.of(groups));
      Require.equal(x.shape().fromEnd(0), features, features + " features", x);
      Dim rows = centroids.dim(0);
      Require.that(
          rows.isStatic() && rows.value() >= groups && rows.value() % groups == 0,
          "as many centroids in each of " + groups + " groups",
          centroids);
      Shape shape = x.shape().with(x.rank() - 1, Dim.of(groups));
      return List.of(new TensorType(ElementType.I32, shape));
    }
  }
}
