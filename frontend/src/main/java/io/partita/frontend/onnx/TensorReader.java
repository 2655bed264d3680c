package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.SparseTensorProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;

/** Reads tensors from ONNX messages; raw and external data remain mapped. */
final class TensorReader {
  /** The largest number of elements of a sparse tensor. */
  private static final long MAX_SPARSE = 1 << 24;

  private static final String DAMAGED = "fetch or export the model again: the file is damaged";

  private final ExternalData external;

  TensorReader(ExternalData external) {
    this.external = external;
  }

  /**
   * @param where the location of the tensor in the model, for messages
   * @throws PartitaException if type, shape and data don't match or aren't supported
   */
  Tensor read(String where, TensorProto proto) {
    TensorType type =
        new TensorType(element(where, proto.getDataType()), shape(where, proto.getDimsList()));
    if (isExternal(proto)) {
      return Tensor.of(type, externalBytes(where, proto, type.bytes()));
    }
    if (proto.hasRawData()) {
      MemorySegment raw = MemorySegment.ofBuffer(proto.getRawData().asReadOnlyByteBuffer());
      if (raw.byteSize() != type.bytes()) {
        throw misfit(where, type, type.bytes() + " bytes", raw.byteSize() + " bytes");
      }
      return Tensor.of(type, raw);
    }
    return typed(where, proto, type);
  }

  /** The data location 1 is external; later values are unknown. */
  private static boolean isExternal(TensorProto proto) {
    return proto.getDataLocation() == TensorProto.DataLocation.EXTERNAL;
  }

  private static ElementType element(String where, int number) {
    return OnnxElements.element(number)
        .orElseThrow(
            () ->
                new PartitaException(
                    ImportCode.TENSOR_ELEMENT,
                    where,
                    OnnxElements.supported(),
                    OnnxElements.name(number),
                    "export the model with another element type"));
  }

  private static Shape shape(String where, List<Long> dims) {
    long elements = 1;
    boolean fits = true;
    for (long dim : dims) {
      fits = fits && dim >= 0 && (dim == 0 || elements <= (Integer.MAX_VALUE - 8) / dim);
      elements = fits ? elements * dim : 0;
    }
    if (!fits || dims.size() > 64) {
      throw new PartitaException(
          ImportCode.TENSOR_SHAPE,
          where,
          "extents of 0 or more, and fewer than 2^31 elements",
          dims.size() > 64 ? dims.size() + " dimensions" : dims.toString(),
          DAMAGED);
    }
    return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
  }

  private MemorySegment externalBytes(String where, TensorProto proto, long bytes) {
    Map<String, String> entries = new HashMap<>();
    for (StringStringEntryProto entry : proto.getExternalDataList()) {
      entries.put(entry.getKey(), entry.getValue());
    }
    long offset = number(where, entries.getOrDefault("offset", "0"));
    long length = number(where, entries.getOrDefault("length", Long.toString(bytes)));
    if (length != bytes) {
      throw new PartitaException(
          ImportCode.TENSOR_SIZE,
          where,
          bytes + " bytes for the shape " + proto.getDimsList(),
          "external data of length " + length,
          DAMAGED);
    }
    return external.read(where, entries.getOrDefault("location", ""), offset, length);
  }

  private static long number(String where, String text) {
    try {
      return Long.parseLong(text.strip());
    } catch (NumberFormatException invalid) {
      throw new PartitaException(
          ImportCode.EXTERNAL_RANGE, where, "offset and length in bytes", text, DAMAGED);
    }
  }

  private static PartitaException misfit(
      String where, TensorType type, String expected, String found) {
    return new PartitaException(
        ImportCode.TENSOR_SIZE, where, expected + " for " + type, found, DAMAGED);
  }

  private static Tensor typed(String where, TensorProto proto, TensorType type) {
    int elements = (int) type.shape().elements();
    return switch (type.element()) {
      case F32 -> {
        require(where, type, elements, proto.getFloatDataCount());
        float[] data = new float[elements];
        for (int i = 0; i < elements; i++) {
          data[i] = proto.getFloatData(i);
        }
        yield Tensor.of(type, data);
      }
      case F64 -> {
        require(where, type, elements, proto.getDoubleDataCount());
        double[] data = new double[elements];
        for (int i = 0; i < elements; i++) {
          data[i] = proto.getDoubleData(i);
        }
        yield Tensor.ofDoubles(type, data);
      }
      case I64 -> longs(where, type, proto.getInt64DataCount(), proto::getInt64Data);
      case U64, U32 -> longs(where, type, proto.getUint64DataCount(), proto::getUint64Data);
      case I32, I16, I8, U16, U8, BOOL ->
          longs(where, type, proto.getInt32DataCount(), proto::getInt32Data);
      case F16, BF16 -> {
        require(where, type, elements, proto.getInt32DataCount());
        short[] bits = new short[elements];
        for (int i = 0; i < elements; i++) {
          bits[i] = (short) proto.getInt32Data(i);
        }
        yield Tensor.of(type, MemorySegment.ofArray(bits));
      }
      case I4, U4 -> {
        int count = (int) type.bytes();
        require(where, type, count, proto.getInt32DataCount());
        byte[] pairs = new byte[count];
        for (int i = 0; i < count; i++) {
          pairs[i] = (byte) proto.getInt32Data(i);
        }
        yield Tensor.of(type, MemorySegment.ofArray(pairs));
      }
    };
  }

  private static Tensor longs(String where, TensorType type, int count, IntToLongFunction data) {
    int elements = (int) type.shape().elements();
    require(where, type, elements, count);
    long[] values = new long[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = data.applyAsLong(i);
    }
    return Tensor.ofLongs(type, values);
  }

  private static void require(String where, TensorType type, int expected, int found) {
    if (expected != found) {
      throw misfit(where, type, expected + " numbers", Integer.toString(found));
    }
  }

  /** Returns a sparse tensor as a dense one, up to a limit. */
  Tensor read(String where, SparseTensorProto proto) {
    Shape shape = shape(where, proto.getDimsList());
    if (shape.elements() > MAX_SPARSE) {
      throw new PartitaException(
          ImportCode.TENSOR_SHAPE,
          where,
          "a sparse tensor of at most " + MAX_SPARSE + " elements",
          shape.toString(),
          "export the model with dense tensors");
    }
    Tensor values = read(where + ", values", proto.getValues());
    Tensor indices = read(where + ", indices", proto.getIndices());
    int rank = shape.rank();
    boolean linear = indices.shape().rank() == 1;
    if (indices.size() != (linear ? values.size() : values.size() * (long) rank)
        || !indices.element().isInteger()) {
      throw misfit(where, indices.type(), "an index for each of " + values.size() + " values", "");
    }
    TensorType type = new TensorType(values.element(), shape);
    long[] strides = shape.strides();
    double[] doubles = new double[type.element().isFloat() ? (int) shape.elements() : 0];
    long[] longs = new long[type.element().isFloat() ? 0 : (int) shape.elements()];
    for (int i = 0; i < values.size(); i++) {
      long place = 0;
      for (int axis = 0; axis < (linear ? 1 : rank); axis++) {
        long index = indices.getLong(linear ? i : i * rank + axis);
        long extent = linear ? shape.elements() : shape.extent(axis);
        if (index < 0 || index >= extent) {
          throw misfit(where, type, "indices within the shape", Long.toString(index));
        }
        place += linear ? index : index * strides[axis];
      }
      if (type.element().isFloat()) {
        doubles[(int) place] = values.getDouble(i);
      } else {
        longs[(int) place] = values.getLong(i);
      }
    }
    return type.element().isFloat() ? Tensor.ofDoubles(type, doubles) : Tensor.ofLongs(type, longs);
  }
}
