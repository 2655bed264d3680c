package io.partita.benchmarks.device;

import io.partita.driver.Compilation;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.ObservedRuns;
import io.partita.driver.evaluate.Scaling;
import io.partita.driver.quantize.Quantization;
import io.partita.driver.quantize.RangeChoice;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Models of the zoo with matrices, inputs of products, attentions, caches and arguments of
 * activation functions as integers. Ranges are those of random data.
 */
public final class QuantizedZoo {
  private static final int SAMPLES = 4;
  private static final int FEATURES = 512;

  /** A whole model takes long for each token, and its ranges don't matter for cycles. */
  private static final int MODEL_TOKENS = 8;

  private static final long VOCABULARY = 32_000;
  private static final double PERCENTILE = 99.99;
  private static final int NO_GROUP = 32;

  private QuantizedZoo() {}

  /**
   * Returns a block in 8 bits.
   *
   * @param tokens the capacity of the cache; without one, the number of tokens
   */
  public static Module block(String name, Mode mode, int tokens) throws IOException {
    Tensor features = new Samples().normal(SAMPLES, tokens, FEATURES);
    return module(name, mode, tokens, features, 8, NO_GROUP);
  }

  /**
   * Returns a decoder with embedding and head.
   *
   * @param tokens the capacity of the cache
   * @param bits the bits of a weight
   * @param group with 4 bits, the rows of a group
   */
  static Module decoder(String name, int tokens, int bits, int group) throws IOException {
    Tensor samples =
        new Samples().integers(ElementType.I64, 0, VOCABULARY, new long[] {SAMPLES, MODEL_TOKENS});
    return module(name, Mode.DECODE, tokens, samples, bits, group);
  }

  private static Module module(
      String name, Mode mode, int tokens, Tensor samples, int bits, int group) throws IOException {
    try (ScratchFolder folder = new ScratchFolder()) {
      Path exact = folder.path().resolve("exact.onnx");
      Path quantized = folder.path().resolve("quantized.onnx");
      ZooOptions options = ZooOptions.defaults().withMode(mode);
      Zoo.write(
          name,
          mode == Mode.DECODE ? options.withDynamic(true) : options.withSequence(tokens),
          exact);
      ObservedRuns.Data data =
          new ObservedRuns.Data(
              new EvaluationData("random data", "calibration", samples, Optional.empty()),
              Scaling.NONE,
              OptionalInt.empty(),
              1);
      Quantization.Settings settings =
          new Quantization.Settings(
              bits,
              group,
              true,
              true,
              true,
              false,
              RangeChoice.MSE,
              PERCENTILE,
              0,
              Double.POSITIVE_INFINITY,
              List.of());
      Compilation.Request model =
          new Compilation.Request(exact, Map.of(), Map.of(), null, OptionalLong.empty());
      new Quantization(note -> {}, step -> {})
          .run(new Quantization.Request(model, data, settings), OnnxModel.read(exact))
          .write(quantized);
      return mode == Mode.DECODE
          ? NetworkBenchmarks.decoder(quantized, tokens)
          : NetworkBenchmarks.imported(quantized, ImportOptions.NONE);
    }
  }
}
