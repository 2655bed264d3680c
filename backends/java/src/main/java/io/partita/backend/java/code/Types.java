package io.partita.backend.java.code;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;

/** Java types by their text. */
final class Types {
  private Types() {}

  /** {@code float[]}, {@code int}, {@code Path}. */
  static TypeName of(String text) {
    if (text.endsWith("[]")) {
      return ArrayTypeName.of(of(text.substring(0, text.length() - 2)));
    }
    return switch (text) {
      case "void" -> TypeName.VOID;
      case "float" -> TypeName.FLOAT;
      case "double" -> TypeName.DOUBLE;
      case "long" -> TypeName.LONG;
      case "int" -> TypeName.INT;
      case "short" -> TypeName.SHORT;
      case "byte" -> TypeName.BYTE;
      case "boolean" -> TypeName.BOOLEAN;
      case "String" -> ClassName.get(String.class);
      case "Object" -> ClassName.OBJECT;
      default -> Body.classNamed(text);
    };
  }
}
