package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.function.Combine;
import io.partita.ir.type.ElementType;
import java.util.Locale;

/** Methods that send elements of a vector to another device and receive elements from others. */
final class ExchangeKernels {
  private ExchangeKernels() {}

  /** {@code F32}. */
  static String name(ElementType element) {
    return element.text().toUpperCase(Locale.ROOT);
  }

  static Kernel send(ElementType element) {
    Storage storage = Storage.of(element);
    String text =
        """
        void send%1$s(int to, int sync, %2$s[] vector, int... slices) {
          int count = 0;
          for (int i = 1; i < slices.length; i += 2) {
            count += slices[i];
          }
          ByteBuffer message = ByteBuffer.allocate(%3$s).order(ByteOrder.LITTLE_ENDIAN);
          %4$s
          channels.send(to, sync, message.array());
        }
        """;
    return Kernel.of(
        "Sends slices of a vector, each given by its first element and size.",
        text.formatted(
                name(element),
                storage.primitive(),
                bytes(element),
                element.bits() == 4
                    ? PACK
                    : storage == Storage.BOOLEANS ? PUT_BOOLEANS : put(storage))
            .replace("\n\n", "\n"));
  }

  private static String bytes(ElementType element) {
    return element.bits() == 4 ? "(count + 1) / 2" : "count * " + element.bits() / Byte.SIZE;
  }

  private static String view(Storage storage) {
    String primitive = storage.primitive();
    String capital = Character.toUpperCase(primitive.charAt(0)) + primitive.substring(1);
    return switch (storage) {
      case BYTES, BOOLEANS -> "ByteBuffer elements = message";
      case FLOATS, DOUBLES, LONGS, INTS, SHORTS ->
          "%1$sBuffer elements = message.as%1$sBuffer()".formatted(capital);
    };
  }

  private static String put(Storage storage) {
    String text =
        """
        %s;
        for (int i = 0; i < slices.length; i += 2) {
          elements.put(vector, slices[i], slices[i + 1]);
        }
        """;
    return text.formatted(view(storage));
  }

  private static final String PUT_BOOLEANS =
      """
      for (int i = 0; i < slices.length; i += 2) {
        for (int at = slices[i]; at < slices[i] + slices[i + 1]; at++) {
          message.put((byte) (vector[at] ? 1 : 0));
        }
      }
      """;

  /** Two elements per byte, the first in the lower half. */
  private static final String PACK =
      """
      int place = 0;
      for (int i = 0; i < slices.length; i += 2) {
        for (int at = slices[i]; at < slices[i] + slices[i + 1]; at++, place++) {
          int other = message.get(place / 2);
          message.put(place / 2, (byte) (other | (vector[at] & 0xf) << place % 2 * 4));
        }
      }
      """;

  /**
   * Receives a message and combines it with the vector's elements.
   *
   * @param kernels receives the kernels that the method calls
   */
  static Kernel receive(
      ElementType element, Combine combine, Kernels kernels, Expressions expressions) {
    Storage storage = Storage.of(element);
    boolean isBulk =
        combine == Combine.REPLACE && element.bits() != 4 && storage != Storage.BOOLEANS;
    String text =
        """
        void %1$s%2$s(int from, int sync, %3$s[] vector, int... slices) {
          int count = 0;
          for (int i = 1; i < slices.length; i += 2) {
            count += slices[i];
          }
          byte[] bytes = channels.receive(from, sync, %4$s);
          ByteBuffer message = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
          %5$s
        }
        """;
    return Kernel.of(
        switch (combine) {
          case REPLACE -> "Receives slices of a vector, each given by its first element and size.";
          case ADD -> "Receives slices of a vector, and adds them to its own.";
          case MUL -> "Receives slices of a vector, and multiplies its own by them.";
          case MAX -> "Receives slices of a vector, and keeps the larger of both.";
          case MIN -> "Receives slices of a vector, and keeps the smaller of both.";
        },
        text.formatted(
            verb(combine),
            name(element),
            storage.primitive(),
            bytes(element),
            isBulk ? get(storage) : each(element, combine, kernels, expressions)));
  }

  private static String verb(Combine combine) {
    return switch (combine) {
      case REPLACE -> "receive";
      case ADD -> "receiveAndAdd";
      case MUL -> "receiveAndMultiply";
      case MAX -> "receiveMaximum";
      case MIN -> "receiveMinimum";
    };
  }

  private static String get(Storage storage) {
    return put(storage).replace("elements.put", "elements.get");
  }

  private static String each(
      ElementType element, Combine combine, Kernels kernels, Expressions expressions) {
    String own = Elements.load(kernels, element, "vector[at]");
    String other = Elements.load(kernels, element, received(element));
    String value =
        combine
            .function()
            .map(function -> expressions.binary(function, element, own, other))
            .orElse(other);
    boolean isPacked = element.bits() == 4;
    String text =
        """
        %1$s;
        for (int i = 0; i < slices.length; i += 2) {
          for (int at = slices[i]; at < slices[i] + slices[i + 1]; at++%2$s) {
            vector[at] = %3$s;
          }
        }
        """;
    return text.formatted(
        isPacked ? "int place = 0" : view(Storage.of(element)),
        isPacked ? ", place++" : "",
        Elements.store(kernels, element, value));
  }

  /** The next element of the message, as an array would hold it. */
  private static String received(ElementType element) {
    return switch (element) {
      case I4 -> "(message.get(place / 2) >> place % 2 * 4 << 28 >> 28)";
      case U4 -> "(message.get(place / 2) >> place % 2 * 4 & 0xf)";
      case BOOL -> "elements.get() != 0";
      case F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 -> "elements.get()";
    };
  }
}
