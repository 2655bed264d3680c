package io.partita.zoo;

import java.nio.ByteBuffer;

/** The elements of a weight, with random access to any run of them. */
sealed interface Fill {
  /** Appends the f32 elements from {@code first} on until the buffer is full. */
  void append(long stream, long first, ByteBuffer buffer);

  /**
   * Seeded numbers that are nearly normal: the sum of four uniform 16-bit integers (Irwin-Hall),
   * with no value further than 3.5 deviations from the mean. It uses integers until the last step,
   * so that the bytes are the same on every machine.
   */
  record Normal(double mean, double deviation) implements Fill {
    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

    /** The variance of the sum of four uniform integers below 2^16: four times (2^32 - 1) / 12. */
    private static final double SUM_DEVIATION = StrictMath.sqrt(((1L << 32) - 1) / 3.0);

    private static final int SUM_MEAN = 2 * 0xFFFF;

    @Override
    public void append(long stream, long first, ByteBuffer buffer) {
      float scale = (float) (deviation / SUM_DEVIATION);
      float shift = (float) mean;
      long counter = stream + first * GOLDEN_RATIO;
      int count = buffer.remaining() / Float.BYTES;
      for (int i = 0; i < count; i++) {
        counter += GOLDEN_RATIO;
        long bits = mix(counter);
        int sum =
            (int) (bits & 0xFFFF)
                + (int) (bits >>> 16 & 0xFFFF)
                + (int) (bits >>> 32 & 0xFFFF)
                + (int) (bits >>> 48);
        buffer.putFloat((sum - SUM_MEAN) * scale + shift);
      }
    }

    /** The finalizer of SplittableRandom (Stafford's variant 13). */
    private static long mix(long bits) {
      long z = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
      z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
      return z ^ z >>> 31;
    }

    /** The counter's start for a weight: FNV-1a of the name, mixed with the seed. */
    static long stream(long seed, String name) {
      long hash = 0xCBF29CE484222325L;
      for (int i = 0; i < name.length(); i++) {
        hash = (hash ^ name.charAt(i)) * 0x100000001B3L;
      }
      return mix(mix(seed + GOLDEN_RATIO) + hash);
    }
  }

  /** Cosines or sines of a rotary embedding's angles, {@code [position, headSize]}. */
  record RotaryTable(Rotary rotary, boolean cosine) implements Fill {
    @Override
    public void append(long stream, long first, ByteBuffer buffer) {
      double[] frequencies = rotary.frequencies();
      int headSize = 2 * frequencies.length;
      int count = buffer.remaining() / Float.BYTES;
      for (int i = 0; i < count; i++) {
        long position = (first + i) / headSize;
        int pair = (int) ((first + i) % frequencies.length);
        double angle = position * frequencies[pair];
        buffer.putFloat((float) (cosine ? StrictMath.cos(angle) : StrictMath.sin(angle)));
      }
    }
  }
}
