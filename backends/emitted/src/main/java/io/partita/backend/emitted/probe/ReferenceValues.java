package io.partita.backend.emitted.probe;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The values of a chip's graph: those that the chip wrote, and others computed from these. So each
 * step is compared by itself, and a mistake in one step isn't attributed to the steps that read its
 * result.
 */
final class ReferenceValues {
  private final ChipReference reference;
  private final Map<String, Tensor> inputs;
  private final MemorySegment l2;
  private final MemorySegment l3;
  private final Map<Value, Tensor> values = new IdentityHashMap<>();
  private Optional<String> damage = Optional.empty();

  /**
   * @param inputs the chip's parts, by name; other inputs are states, which are zero
   */
  ReferenceValues(ChipReference reference, Map<String, Tensor> inputs, Path folder, int chip)
      throws IOException {
    this.reference = reference;
    this.inputs = inputs;
    this.l2 = map(folder.resolve("chip" + chip + ".l2"));
    this.l3 = map(folder.resolve("chip" + chip + ".l3"));
  }

  private static MemorySegment map(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
    }
  }

  /** Sets a value. */
  void put(Value value, Tensor tensor) {
    values.put(value, tensor);
  }

  /** Returns the value that was set, or computes it from its operands. */
  Tensor get(Value value) {
    Tensor known = values.get(value);
    if (known != null) {
      return known;
    }
    if (value.isInput()) {
      Tensor given = input(value);
      values.put(value, given);
      return given;
    }
    Node node = value.definition();
    List<Tensor> operands = node.operands().stream().map(this::get).toList();
    List<Tensor> results = Evaluator.run(node, operands);
    for (int i = 0; i < results.size(); i++) {
      values.putIfAbsent(node.results().get(i), results.get(i));
    }
    return values.get(value);
  }

  private Tensor input(Value value) {
    ChipReference.Weight weight = reference.weights().get(value.name());
    if (weight != null) {
      return weight(value, weight);
    }
    return Optional.ofNullable(inputs.get(value.name()))
        .or(() -> reference.constant(value))
        .orElseGet(() -> Tensor.filled(value.type(), 0));
  }

  private Tensor weight(Value value, ChipReference.Weight weight) {
    MemorySegment image = weight.at().isHome() ? l2 : l3;
    long bytes = value.type().bytes();
    String place =
        "%s in %s at 0x%05x"
            .formatted(weight.name(), weight.at().isHome() ? "L2" : "L3", weight.at().offset());
    if (weight.at().offset() + bytes > image.byteSize()) {
      damage = Optional.of(place + ", beyond the end of the image");
      return Tensor.filled(value.type(), 0);
    }
    MemorySegment part = image.asSlice(weight.at().offset(), bytes);
    String checksum = ChipReference.checksum(part);
    if (!checksum.equals(weight.checksum())) {
      damage =
          Optional.of(place + " with checksum " + checksum + " instead of " + weight.checksum());
    }
    return Tensor.of(value.type(), part);
  }

  /** The first used weight that differs from the compiled one. */
  Optional<String> damage() {
    return damage;
  }
}
