package io.partita.tests.recorded;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** A model in ONNX Runtime, the oracle, with its graph optimiser off. */
final class OnnxRuntime implements AutoCloseable {
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;

  OnnxRuntime(Path model) throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(1);
      options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.NO_OPT);
      options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
      session = environment.createSession(model.toString(), options);
    }
  }

  /** Returns the outputs by name, for inputs by name; additional inputs are ignored. */
  Map<String, Tensor> run(Map<String, Tensor> inputs) throws OrtException {
    Map<String, OnnxTensor> given = new LinkedHashMap<>();
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    try {
      for (String name : session.getInputNames()) {
        if (inputs.containsKey(name)) {
          given.put(name, given(inputs.get(name)));
        }
      }
      try (OrtSession.Result result = session.run(given)) {
        for (Map.Entry<String, OnnxValue> output : result) {
          outputs.put(output.getKey(), tensor((OnnxTensor) output.getValue()));
        }
      }
    } finally {
      given.values().forEach(OnnxTensor::close);
    }
    return outputs;
  }

  private OnnxTensor given(Tensor tensor) throws OrtException {
    byte[] bytes = tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
    buffer.put(bytes).flip();
    return OnnxTensor.createTensor(
        environment, buffer, tensor.shape().extents(), javaType(tensor.element()));
  }

  private static OnnxJavaType javaType(ElementType element) {
    return switch (element) {
      case F64 -> OnnxJavaType.DOUBLE;
      case F32 -> OnnxJavaType.FLOAT;
      case F16 -> OnnxJavaType.FLOAT16;
      case BF16 -> OnnxJavaType.BFLOAT16;
      case I64 -> OnnxJavaType.INT64;
      case I32 -> OnnxJavaType.INT32;
      case I16 -> OnnxJavaType.INT16;
      case I8 -> OnnxJavaType.INT8;
      case U8 -> OnnxJavaType.UINT8;
      case BOOL -> OnnxJavaType.BOOL;
      case I4, U64, U32, U16, U4 ->
          throw new IllegalArgumentException("ONNX Runtime for Java takes no " + element);
    };
  }

  private static Tensor tensor(OnnxTensor value) {
    TensorInfo info = value.getInfo();
    ElementType element =
        switch (info.type) {
          case DOUBLE -> ElementType.F64;
          case FLOAT -> ElementType.F32;
          case FLOAT16 -> ElementType.F16;
          case BFLOAT16 -> ElementType.BF16;
          case INT64 -> ElementType.I64;
          case INT32 -> ElementType.I32;
          case INT16 -> ElementType.I16;
          case INT8 -> ElementType.I8;
          case UINT8 -> ElementType.U8;
          case BOOL -> ElementType.BOOL;
          case STRING, UNKNOWN -> throw new IllegalArgumentException(info.toString());
        };
    ByteBuffer buffer = value.getByteBuffer();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return Tensor.of(
        new TensorType(element, Shape.of(info.getShape())), MemorySegment.ofArray(bytes));
  }

  @Override
  public void close() throws OrtException {
    session.close();
  }
}
