package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;

/** A file of one serialized ONNX tensor, such as the {@code input_0.pb} of ONNX's test cases. */
public record TensorFile(String name, Tensor tensor) {
  /**
   * @throws PartitaException if it is invalid, or its element type isn't supported
   */
  public static TensorFile read(Path path) {
    ByteString bytes = OnnxFile.map(path);
    try {
      TensorProto proto = TensorProto.parseFrom(OnnxFile.stream(bytes));
      Path folder = path.toAbsolutePath().getParent();
      return new TensorFile(
          proto.getName(), new TensorReader(new ExternalData(folder)).read(path.toString(), proto));
    } catch (IOException damaged) {
      throw new PartitaException(
          ImportCode.NOT_A_TENSOR,
          path.toString(),
          "a serialized TensorProto",
          damaged.getMessage(),
          "fetch the file again");
    }
  }
}
