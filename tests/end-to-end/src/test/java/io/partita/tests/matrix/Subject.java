package io.partita.tests.matrix;

import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/**
 * A model to distribute.
 *
 * @param group the group in the report
 * @param family the family within the group
 * @param model the file
 * @param loaded loads the model
 */
record Subject(String group, String family, String name, Path model, Supplier<Loaded> loaded) {
  /**
   * A model with static shapes after the usual passes, and its seeded inputs in order.
   *
   * @param queries the number of query tokens of each attention
   * @param heads the largest number of heads of an attention; 0 if no attention is raised
   */
  record Loaded(Module module, List<Tensor> inputs, List<Long> queries, long heads) {}

  Subject in(String otherGroup) {
    return new Subject(otherGroup, family, name, model, loaded);
  }

  /** Whether it is a single structure, which has little to split. */
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
