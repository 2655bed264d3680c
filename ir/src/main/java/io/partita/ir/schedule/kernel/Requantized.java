package io.partita.ir.schedule.kernel;

/** {@code clamp((x multiplier + addend + 2^shift / 2) >> shift, low, high)} in 64 bits. */
record Requantized(int shift, long low, long high) {
  static Requantized of(KernelArguments call) {
    return new Requantized(call.get("shift"), call.integer("low"), call.integer("high"));
  }

  long at(long x, long multiplier, long addend) {
    long half = (1L << shift) / 2;
    return Math.clamp((x * multiplier + addend + half) >> shift, low, high);
  }

  /** Whether C kernels accept the shift. */
  static boolean isShift(FieldValues call) {
    return call.get("shift") >= 0 && call.get("shift") <= 62;
  }
}
