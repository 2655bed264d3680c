package io.partita.ir.schedule.kernel;

/**
 * The fields of a kernel's struct of arguments in one call, by their names in C. A field of a
 * struct within the struct is named by both: {@code window.height}.
 */
public interface KernelArguments {
  /** An integer field; 0 where the call leaves it out. */
  long integer(String field);

  /** An f32 field. */
  float number(String field);

  /** An array of integers. */
  int[] integers(String field);

  /** Where a pointer leads; null for a null pointer. */
  Place place(String field);

  /** An integer field that fits 32 bits. */
  default int get(String field) {
    return Math.toIntExact(integer(field));
  }

  /** The fields of a struct within the struct. */
  default KernelArguments within(String struct) {
    KernelArguments outer = this;
    return new KernelArguments() {
      @Override
      public long integer(String field) {
        return outer.integer(struct + "." + field);
      }

      @Override
      public float number(String field) {
        return outer.number(struct + "." + field);
      }

      @Override
      public int[] integers(String field) {
        return outer.integers(struct + "." + field);
      }

      @Override
      public Place place(String field) {
        return outer.place(struct + "." + field);
      }
    };
  }
}
