package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;

/**
 * The bytes of a quantized model. The data of large models is in a file beside the model, as is
 * that of models that were read so.
 */
public final class QuantizedFile {
  /** The size from which data is external; protobuf ends at 2 GB. */
  private static final long LARGEST = 1L << 30;

  private static final int SMALL = 1024;

  /** The alignment of external data, which allows readers to map it. */
  private static final int ALIGNMENT = 64;

  private final ModelProto written;
  private final OnnxModel source;

  /**
   * @param source the model whose external data it may refer to
   */
  public QuantizedFile(ModelProto written, OnnxModel source) {
    this.written = written;
    this.source = source;
  }

  /** Whether its data belongs into another file. */
  public boolean hasData() {
    return !source.dataFiles().isEmpty()
        || written.getGraph().getInitializerList().stream()
                .mapToLong(tensor -> tensor.getRawData().size())
                .sum()
            > LARGEST;
  }

  public void writeModel(OutputStream out) throws IOException {
    written.writeTo(out);
  }

  /**
   * Writes the data.
   *
   * @param location the name of the data's file, beside that of the model
   * @return the model that refers to it
   */
  public QuantizedFile writeData(OutputStream out, String location) throws IOException {
    GraphProto.Builder graph = written.getGraph().toBuilder();
    long offset = 0;
    for (int i = 0; i < graph.getInitializerCount(); i++) {
      TensorProto tensor = graph.getInitializer(i);
      boolean isExternal = tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL;
      if (!isExternal && tensor.getRawData().size() < SMALL) {
        continue;
      }
      Tensor data = isExternal ? source.tensor(tensor.getName(), tensor) : null;
      ByteString bytes =
          isExternal ? ByteString.copyFrom(data.bytes().asByteBuffer()) : tensor.getRawData();
      int gap = (int) (-offset & ALIGNMENT - 1);
      out.write(new byte[gap]);
      offset += gap;
      bytes.writeTo(out);
      graph.setInitializer(
          i,
          tensor.toBuilder()
              .clearRawData()
              .clearExternalData()
              .setDataLocation(TensorProto.DataLocation.EXTERNAL)
              .addExternalData(entry("location", location))
              .addExternalData(entry("offset", Long.toString(offset)))
              .addExternalData(entry("length", Long.toString(bytes.size()))));
      offset += bytes.size();
    }
    return new QuantizedFile(written.toBuilder().setGraph(graph).build(), source);
  }

  private static StringStringEntryProto entry(String key, String value) {
    return StringStringEntryProto.newBuilder().setKey(key).setValue(value).build();
  }
}
