package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/**
 * An input or output of the model, and the chips that hold it.
 *
 * @param extents those of the whole
 * @param parts one of each chip for inputs; for outputs one chip for each part
 */
record Port(List<Long> extents, List<Part> parts) {
  /** A part of a tensor, which is the matrix of a chip. */
  record Part(int chip, Matrix matrix, List<Long> start, List<Long> extents) {}

  /**
   * Returns an input. One that all chips hold is one part.
   *
   * @param matrices the matrix of each chip that holds any of it
   */
  static Port input(ShardedType type, IntFunction<Matrix> matrices) {
    List<Part> parts = parts(type, matrices);
    boolean isWhole =
        parts.size() == type.layout().mesh().devices()
            && parts.stream().allMatch(part -> part.matrix().equals(parts.getFirst().matrix()))
            && type.layout().isReplicated();
    return new Port(extents(type.type()), isWhole ? parts.subList(0, 1) : parts);
  }

  /** Returns an output, of which each part is read from the first chip that holds it. */
  static Port output(ShardedType type, IntFunction<Matrix> matrices) {
    List<Part> distinct = new ArrayList<>();
    for (Part part : parts(type, matrices)) {
      if (distinct.stream().noneMatch(other -> other.start().equals(part.start()))) {
        distinct.add(part);
      }
    }
    return new Port(extents(type.type()), distinct);
  }

  private static List<Part> parts(ShardedType type, IntFunction<Matrix> matrices) {
    Layout layout = type.layout();
    List<Part> parts = new ArrayList<>();
    for (int chip : layout.holders()) {
      TensorType local = layout.localType(type.type(), chip);
      if (local.shape().elements() == 0) {
        continue;
      }
      List<Long> start = new ArrayList<>();
      for (int dim = 0; dim < layout.rank(); dim++) {
        start.add(layout.from(chip, dim));
      }
      parts.add(new Part(chip, matrices.apply(chip), start, extents(local)));
    }
    return parts;
  }

  private static List<Long> extents(TensorType type) {
    return Arrays.stream(type.shape().extents()).boxed().toList();
  }
}
