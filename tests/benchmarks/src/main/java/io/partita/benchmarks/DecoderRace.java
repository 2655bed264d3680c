package io.partita.benchmarks;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxTensorLike;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A race of one token per turn. ONNX Runtime gets the keys and values of its previous turn without
 * a copy, so both attend to the same number of tokens.
 */
final class DecoderRace extends Race {
  private static final int VOCABULARY_SEEN = 1000;

  private final int capacity;
  private Map<String, OnnxTensorLike> past = new HashMap<>();
  private OrtSession.Result last;

  DecoderRace(Path onnx, Path compiled, int capacity) throws OrtException {
    super(onnx, compiled);
    this.capacity = capacity;
  }

  private static long token(int turn) {
    return turn * 37L % VOCABULARY_SEEN;
  }

  @Override
  void prepare(int turn) throws OrtException {
    if (turn % capacity != 0) {
      return;
    }
    program.reset();
    release();
    past = new HashMap<>();
    for (var state : program.description().whole().states()) {
      long[] empty = state.type().shape().extents();
      empty[2] = 0;
      past.put(state.input(), OnnxTensor.createTensor(environment, FloatBuffer.allocate(0), empty));
    }
  }

  @Override
  float[] runJava(int turn) {
    return logits(
        List.of(
            Tensor.longs(Shape.of(1, 1), token(turn)), Tensor.longs(Shape.of(1), turn % capacity)));
  }

  @Override
  float[] runOnnxRuntime(int turn) throws OrtException {
    Map<String, OnnxTensorLike> inputs = new HashMap<>(past);
    try (OnnxTensor token = longs(token(turn), 1, 1);
        OnnxTensor position = longs(turn % capacity, 1)) {
      inputs.put("input_ids", token);
      inputs.put("position", position);
      OrtSession.Result result = session.run(inputs);
      release();
      last = result;
    }
    for (var state : program.description().whole().states()) {
      past.put(state.input(), (OnnxTensor) last.get(state.output()).orElseThrow());
    }
    return floats((OnnxTensor) last.get("logits").orElseThrow());
  }

  private OnnxTensor longs(long value, long... shape) throws OrtException {
    return OnnxTensor.createTensor(environment, LongBuffer.wrap(new long[] {value}), shape);
  }

  private void release() {
    if (last != null) {
      last.close();
      last = null;
    }
  }

  @Override
  public void close() throws OrtException {
    release();
    super.close();
  }
}
