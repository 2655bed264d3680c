package io.partita.backend.java.code;

import io.partita.backend.java.code.Kernel.Variant;
import io.partita.backend.java.plan.Storage;

/** Readers of the mapped weights file, which is divided into segments of 2^30 bytes. */
final class WeightKernels {
  /** The logarithm of a segment's bytes, which one mapped buffer can hold. */
  static final int SEGMENT_BITS = 30;

  private WeightKernels() {}

  /** Copies elements of this storage from the weights file; positions count elements. */
  static Kernel reader(Storage storage) {
    return switch (storage) {
      case FLOATS, DOUBLES, LONGS, INTS, SHORTS, BYTES -> copier(storage);
      case BOOLEANS -> READ_BOOLEANS;
    };
  }

  /** Copies weights of this format as float or double. */
  static Kernel reader(Variant variant) {
    return switch (variant) {
      case PLAIN, FLOAT -> reader(Storage.FLOATS);
      case DOUBLE -> reader(Storage.DOUBLES);
      case HALF -> widening("Halves", ScalarKernels.FROM_HALF);
      case BFLOAT -> widening("Bfloats", ScalarKernels.FROM_BFLOAT);
      case BYTE -> READ_SIGNED_BYTES;
    };
  }

  private static Kernel copier(Storage storage) {
    int bits = SEGMENT_BITS - Integer.numberOfTrailingZeros(storage.bytes());
    String primitive = storage.primitive();
    String capital = Character.toUpperCase(primitive.charAt(0)) + primitive.substring(1);
    String text =
        """
        void read%1$ss(long at, %2$s[] into, int offset, int count) {
          for (int done = 0; done < count; ) {
            %1$sBuffer segment = %2$sSegments[(int) (at + done >> %3$s)];
            int from = (int) (at + done & %4$s);
            int length = Math.min(count - done, segment.limit() - from);
            segment.get(from, into, offset + done, length);
            done += length;
          }
        }
        """;
    return Kernel.of(
        "Copies elements of the weights file, counted from its start.",
        text.formatted(capital, primitive, bits, (1L << bits) - 1));
  }

  private static final Kernel READ_BOOLEANS =
      Kernel.of(
          "Copies booleans of the weights file, counted from its start.",
          """
          void readBooleans(long at, boolean[] into, int offset, int count) {
            byte[] bytes = new byte[count];
            readBytes(at, bytes, 0, count);
            for (int i = 0; i < count; i++) {
              into[offset + i] = bytes[i] != 0;
            }
          }
          """,
          copier(Storage.BYTES));

  private static final Kernel READ_SIGNED_BYTES =
      Kernel.of(
          "Copies bytes of the weights file, widened.",
          """
          void readSignedBytes(long at, float[] into, int offset, int count) {
            for (int done = 0; done < count; done += byteTile.length) {
              int length = Math.min(count - done, byteTile.length);
              readBytes(at + done, byteTile, 0, length);
              for (int i = 0; i < length; i++) {
                into[offset + done + i] = byteTile[i];
              }
            }
          }
          """,
          copier(Storage.BYTES));

  private static Kernel widening(String format, Kernel from) {
    String text =
        """
        void read%1$s(long at, float[] into, int offset, int count) {
          for (int done = 0; done < count; done += shortTile.length) {
            int length = Math.min(count - done, shortTile.length);
            readShorts(at + done, shortTile, 0, length);
            for (int i = 0; i < length; i++) {
              into[offset + done + i] = (float) %2$s(shortTile[i]);
            }
          }
        }
        """;
    return Kernel.of(
        "Copies 16-bit floats of the weights file, widened.",
        text.formatted(format, from.name()),
        copier(Storage.SHORTS),
        from);
  }
}
