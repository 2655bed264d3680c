package io.partita.passes.schedule;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.Packing;
import io.partita.ir.tensor.BlockFloat;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.values.ProductWeights;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.view.Storage;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The constant weights of linear layers in blocks that share an exponent, on chips whose kernels
 * unpack them. Each has a region of its own, with a row for each input feature: so a transposed
 * weight is stored with contiguous columns, and one that something else reads too is stored twice.
 */
final class PackedWeights {
  private final Packing packing;
  private final KnownValues known;
  private final SharedRegions regions;
  private final Map<Value, Storage> storages = new IdentityHashMap<>();
  private final Map<Value, Storage> transposed = new IdentityHashMap<>();

  /**
   * @param packing how weights are stored
   */
  PackedWeights(Packing packing, KnownValues known, SharedRegions regions) {
    this.packing = packing;
    this.known = known;
    this.regions = regions;
  }

  /** Returns the storage of an operand of a group; empty if it isn't a weight in blocks. */
  Optional<Storage> of(Group group, Value operand) {
    Node node = group.first();
    if (packing == Packing.BF8_B
        && node.op() instanceof Structured.Linear(var isTransposed, var bias)
        && node.operand(1) == operand
        && ProductWeights.constant(node, 1).isPresent()) {
      return Optional.of(
          (isTransposed ? transposed : storages)
              .computeIfAbsent(operand, weight -> stored(weight, isTransposed)));
    }
    return Optional.empty();
  }

  private Storage stored(Value weight, boolean isTransposed) {
    TensorType type = weight.type();
    int first = isTransposed ? 1 : 0;
    int rows = Math.toIntExact(type.shape().extent(first));
    int columns = Math.toIntExact(type.shape().extent(1 - first));
    TensorType bytes = TensorType.of(ElementType.U8, rows, BlockFloat.bytes(columns));
    List<Tensor> tensors =
        regions.folded(
            packing + (isTransposed ? " transposed" : ""),
            List.of(known.of(weight)),
            bytes,
            () ->
                known.of(weight).stream()
                    .map(data -> packed(data, rows, columns, isTransposed, bytes))
                    .toList());
    long stride = BlockFloat.rowElements(columns);
    Storage storage =
        new Storage(
            regions.constant(weight.definition().origin(), tensors),
            type.element(),
            packing,
            0,
            List.of((long) rows, (long) columns),
            List.of(stride, 1L));
    return isTransposed ? storage.transposed(List.of(1, 0)) : storage;
  }

  private static Tensor packed(
      Tensor data, int rows, int columns, boolean isTransposed, TensorType bytes) {
    return Tensor.deferred(
        bytes,
        () -> {
          byte[] packed = new byte[Math.toIntExact(bytes.bytes())];
          float[] row = new float[columns];
          for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
              row[j] = (float) data.getDouble(isTransposed ? j * rows + i : i * columns + j);
            }
            BlockFloat.encode(row, packed, Math.toIntExact(i * BlockFloat.bytes(columns)));
          }
          return MemorySegment.ofArray(packed);
        });
  }
}
