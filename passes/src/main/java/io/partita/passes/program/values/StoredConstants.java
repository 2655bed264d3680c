package io.partita.passes.program.values;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Packing;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The bytes of constants, and of states, as devices store them.
 *
 * @param weights how the matrices of products are stored
 * @param readers the readers of all values
 */
public record StoredConstants(Packing weights, Map<Value, List<Node>> readers) {
  /** Those of a graph, whose readers count only where matrices are stored in blocks. */
  public static StoredConstants of(Packing weights, Graph graph) {
    return new StoredConstants(weights, weights == Packing.PLAIN ? Map.of() : graph.readers());
  }

  /**
   * Returns the bytes of a part of a constant. A matrix that something else reads as well is stored
   * twice.
   *
   * @param type the type of the part
   */
  public long bytes(Value constant, TensorType type) {
    if (weights == Packing.PLAIN) {
      return type.bytes();
    }
    List<Optional<List<Long>>> uses = uses(constant, type).toList();
    boolean isPlain = uses.isEmpty() || uses.stream().anyMatch(Optional::isEmpty);
    long blocks =
        uses.stream()
            .flatMap(Optional::stream)
            .findFirst()
            .map(extents -> weights.bytes(type.element(), extents))
            .orElse(0L);
    return isPlain ? blocks + type.bytes() : blocks;
  }

  /** The extents of blocks for each reader, also behind changes of layout; empty without blocks. */
  private Stream<Optional<List<Long>>> uses(Value value, TensorType type) {
    return readers.getOrDefault(value, List.of()).stream()
        .flatMap(
            reader ->
                reader.op() instanceof Communication.Relayout
                    ? uses(reader.result(), type)
                    : IntStream.range(0, reader.operands().size())
                        .filter(operand -> reader.operand(operand) == value)
                        .mapToObj(operand -> ProductWeights.extents(reader.op(), operand, type)));
  }
}
