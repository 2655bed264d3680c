package io.partita.benchmarks;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A race of one prompt per turn. */
final class PrefillRace extends Race {
  private static final int VOCABULARY_SEEN = 1000;

  private final Shape shape;

  PrefillRace(Path onnx, Path compiled) throws OrtException {
    super(onnx, compiled);
    this.shape = program.description().whole().inputs().getFirst().type().shape();
  }

  private long[] tokens(int turn) {
    long[] tokens = new long[Math.toIntExact(shape.elements())];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (turn + i * 37L) % VOCABULARY_SEEN;
    }
    return tokens;
  }

  @Override
  void prepare(int turn) {}

  @Override
  float[] runJava(int turn) {
    return logits(List.of(Tensor.longs(shape, tokens(turn))));
  }

  @Override
  float[] runOnnxRuntime(int turn) throws OrtException {
    LongBuffer tokens = LongBuffer.wrap(tokens(turn));
    try (OnnxTensor input = OnnxTensor.createTensor(environment, tokens, shape.extents());
        OrtSession.Result result =
            session.run(Map.of(program.description().whole().inputs().getFirst().name(), input))) {
      return floats((OnnxTensor) result.get(0));
    }
  }
}
