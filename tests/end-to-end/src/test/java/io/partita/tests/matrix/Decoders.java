package io.partita.tests.matrix;

import io.partita.driver.Compilation;
import io.partita.driver.DecoderDimensions;
import io.partita.driver.Preparation;
import io.partita.driver.SeededInputs;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decoders with KV caches of fixed capacity as state. A run is one step, with seeded caches whose
 * later positions are still invalid; the caches after the step are compared like outputs.
 */
final class Decoders {
  private static final long SEED = 20_262;
  private static final long CAPACITY = 8;
  private static final long POSITION = 5;

  private Decoders() {}

  /** Whether a recorded model has a growing cache and a mask for any length. */
  static boolean isDecoder(Subject subject) {
    String name = subject.name();
    return (name.contains("_kv") || name.equals("decode"))
        && !name.contains("mask")
        && !DecoderDimensions.cache(OnnxModel.read(subject.model())).isEmpty();
  }

  static Subject compiled(Subject subject) {
    return new Subject(
        "decoders with state",
        subject.family(),
        subject.name() + ", compiled",
        subject.model(),
        () -> load(subject.model()));
  }

  private static Subject.Loaded load(Path file) {
    OnnxModel model = OnnxModel.read(file);
    Set<String> cache = DecoderDimensions.cache(model);
    Map<String, Long> dims = new TreeMap<>();
    for (TensorType type : model.inputTypes().values()) {
      type.shape().dims().forEach(dim -> dim.symbols().forEach(symbol -> dims.put(symbol, 1L)));
    }
    // The total length belongs to the mask, which a compiled decoder doesn't have.
    dims.keySet().removeIf(symbol -> cache.contains(symbol) || symbol.equals("total"));
    Module module =
        new Preparation(note -> {}, progress -> {})
            .prepareEntries(new Compilation.Request(file, dims, Map.of(), null), CAPACITY)
            .step();
    List<Tensor> inputs = new ArrayList<>(SeededInputs.of(module.graph(), SEED));
    for (Value input : module.graph().inputs()) {
      if (input.name().startsWith("position")) {
        inputs.set(input.index(), Tensor.filled(input.type(), POSITION));
      }
    }
    return Subjects.loaded(module, inputs);
  }
}
