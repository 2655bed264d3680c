package io.partita.backend.java.code;

import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;

/**
 * A constant table of integers with one row per device. The JVM limits a method to 64 KiB of code,
 * the initializer of a class included, so a table for hundreds of devices is made by several
 * methods.
 *
 * @param name the field's name, in capitals
 * @param rows each row's integers, or null where a device has none
 */
record TableCode(String name, String comment, List<? extends List<? extends Number>> rows) {
  private static final TypeName TABLE = Types.of("int[][]");

  /** Bytes of code that create an array of a row, and those that store one of its integers. */
  private static final int ARRAY_BYTES = 10;

  private static final int STORE_BYTES = 8;

  /** The largest code of a table in the initializer of the class, which has several of them. */
  private static final int MAX_INITIALIZER_BYTES = 4_000;

  /** The largest code of a method that makes rows; one more row fits in any case. */
  private static final int MAX_METHOD_BYTES = 24_000;

  void addTo(TypeSpec.Builder type) {
    FieldSpec.Builder field =
        FieldSpec.builder(TABLE, name, Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
            .addJavadoc("$L\n", comment);
    if (rows.stream().mapToInt(TableCode::bytes).sum() <= MAX_INITIALIZER_BYTES) {
      type.addField(field.initializer("$L", text(rows)).build());
      return;
    }
    List<String> calls = new ArrayList<>();
    for (List<List<? extends Number>> part : parts()) {
      String method = name.toLowerCase(Locale.ROOT) + calls.size();
      calls.add(method + "()");
      type.addMethod(
          MethodSpec.methodBuilder(method)
              .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
              .returns(TABLE)
              .addStatement("return new int[][] $L", text(part))
              .build());
    }
    type.addField(field.initializer(joined(calls)).build());
  }

  private static CodeBlock joined(List<String> calls) {
    return calls.size() == 1
        ? CodeBlock.of("$L", calls.getFirst())
        : CodeBlock.of(
            "$T.of($L).flatMap($T::stream).toArray(int[][]::new)",
            Stream.class,
            String.join(", ", calls),
            Arrays.class);
  }

  private List<List<List<? extends Number>>> parts() {
    List<List<List<? extends Number>>> parts = new ArrayList<>();
    int bytes = MAX_METHOD_BYTES;
    for (List<? extends Number> row : rows) {
      if (bytes >= MAX_METHOD_BYTES) {
        parts.add(new ArrayList<>());
        bytes = 0;
      }
      parts.getLast().add(row);
      bytes += bytes(row);
    }
    return parts;
  }

  private static int bytes(List<? extends Number> row) {
    return ARRAY_BYTES + (row == null ? 0 : STORE_BYTES * row.size());
  }

  private static String text(List<? extends List<? extends Number>> rows) {
    return rows.stream()
        .map(TableCode::braces)
        .collect(Collectors.joining(",\n  ", "{\n  ", "\n}"));
  }

  /** Returns an array's initializer. */
  static String braces(List<?> numbers) {
    return numbers == null
        ? "null"
        : numbers.stream().map(Object::toString).collect(Collectors.joining(", ", "{", "}"));
  }
}
