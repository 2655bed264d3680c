package io.partita.frontend.onnx;

import io.partita.ir.type.ElementType;
import java.util.Optional;

/** The numbers of element types in {@code TensorProto.DataType} of onnx.proto3. */
final class OnnxElements {
  private OnnxElements() {}

  static Optional<ElementType> element(long number) {
    return Optional.ofNullable(
        switch (Math.clamp(number, -1, Integer.MAX_VALUE)) {
          case 1 -> ElementType.F32;
          case 2 -> ElementType.U8;
          case 3 -> ElementType.I8;
          case 4 -> ElementType.U16;
          case 5 -> ElementType.I16;
          case 6 -> ElementType.I32;
          case 7 -> ElementType.I64;
          case 9 -> ElementType.BOOL;
          case 10 -> ElementType.F16;
          case 11 -> ElementType.F64;
          case 12 -> ElementType.U32;
          case 13 -> ElementType.U64;
          case 16 -> ElementType.BF16;
          case 21 -> ElementType.U4;
          case 22 -> ElementType.I4;
          default -> null;
        });
  }

  /** Returns the ONNX name of a number, also for unsupported types. */
  static String name(long number) {
    Optional<ElementType> element = element(number);
    if (element.isPresent()) {
      return element.get().text();
    }
    return switch (Math.clamp(number, -1, Integer.MAX_VALUE)) {
      case 8 -> "string";
      case 14 -> "complex64";
      case 15 -> "complex128";
      case 17 -> "float8e4m3fn";
      case 18 -> "float8e4m3fnuz";
      case 19 -> "float8e5m2";
      case 20 -> "float8e5m2fnuz";
      case 23 -> "float4e2m1";
      case 24 -> "float8e8m0";
      case 25 -> "uint2";
      case 26 -> "int2";
      default -> "number " + number;
    };
  }

  static String supported() {
    StringBuilder names = new StringBuilder("one of");
    for (ElementType type : ElementType.values()) {
      names.append(names.length() > 6 ? ", " : " ").append(type.text());
    }
    return names.toString();
  }
}
