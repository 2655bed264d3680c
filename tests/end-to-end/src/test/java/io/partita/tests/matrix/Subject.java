package io.partita.tests.matrix;

import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/**
 * A model that is to be distributed.
 *
 * @param group what it is reported with
 * @param family part of the group
 * @param model the file
 * @param loaded reads it
 */
record Subject(String group, String family, String name, Path model, Supplier<Loaded> loaded) {
  /**
   * A model after the usual passes, of static shapes, and seeded inputs in its order.
   *
   * @param queries the number of tokens that ask, of each attention
   * @param heads the most that an attention has; 0 where none is one operation
   */
  record Loaded(Module module, List<Tensor> inputs, List<Long> queries, long heads) {}

  Subject in(String otherGroup) {
    return new Subject(otherGroup, family, name, model, loaded);
  }

  /** Of a single structure, which has little to split. */
  boolean isStructure() {
    return group.startsWith("structures") || group.startsWith("kernels");
  }

  Loaded load() {
    return loaded.get();
  }

  @Override
  public String toString() {
    return family + "/" + name;
  }
}
