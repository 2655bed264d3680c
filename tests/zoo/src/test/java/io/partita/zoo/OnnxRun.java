package io.partita.zoo;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A written model in ONNX Runtime, the oracle. */
final class OnnxRun implements AutoCloseable {
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;

  /** An f32 output. */
  record Output(long[] shape, float[] values) {}

  OnnxRun(Path model) throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(1);
      session = environment.createSession(model.toString(), options);
    }
  }

  OnnxTensor tokens(long... ids) throws OrtException {
    return OnnxTensor.createTensor(environment, LongBuffer.wrap(ids), new long[] {1, ids.length});
  }

  OnnxTensor position(long position) throws OrtException {
    return OnnxTensor.createTensor(
        environment, LongBuffer.wrap(new long[] {position}), new long[] {1});
  }

  OnnxTensor floats(float[] values, long... shape) throws OrtException {
    return OnnxTensor.createTensor(environment, FloatBuffer.wrap(values), shape);
  }

  List<String> inputNames() {
    return new ArrayList<>(session.getInputNames());
  }

  Map<String, Output> run(Map<String, OnnxTensor> inputs) throws OrtException {
    Map<String, Output> outputs = new LinkedHashMap<>();
    try (OrtSession.Result result = session.run(inputs)) {
      for (Map.Entry<String, OnnxValue> entry : result) {
        OnnxTensor tensor = (OnnxTensor) entry.getValue();
        float[] values = new float[tensor.getFloatBuffer().remaining()];
        tensor.getFloatBuffer().get(values);
        outputs.put(entry.getKey(), new Output(tensor.getInfo().getShape(), values));
      }
    } finally {
      inputs.values().forEach(OnnxTensor::close);
    }
    return outputs;
  }

  @Override
  public void close() throws OrtException {
    session.close();
  }
}
