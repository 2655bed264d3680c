package io.partita.ir.schedule.kernel;

/**
 * The fields of a kernel's struct of arguments in one call, by their names in C. A field of a
 * nested struct has a qualified name: {@code window.height}.
 */
public interface KernelArguments {
  /** Returns an integer field; 0 if the call omits it. */
  long integer(String field);

  /** Returns an f32 field. */
  float number(String field);

  /** Returns an array of integers. */
  int[] integers(String field);

  /** Returns the place of a pointer; null for a null pointer. */
  Place place(String field);

  /** Returns an integer field that fits 32 bits. */
  default int get(String field) {
    return Math.toIntExact(integer(field));
  }

  /** Returns the fields of a nested struct. */
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
