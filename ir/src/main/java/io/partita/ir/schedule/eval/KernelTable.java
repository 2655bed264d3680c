package io.partita.ir.schedule.eval;

import java.util.Collection;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** All kernels of the runtime by their names in C. */
public final class KernelTable {
  private static final KernelTable ALL = new KernelTable();

  private final SortedMap<String, Kernel> kernels = new TreeMap<>();

  private KernelTable() {
    ElementwiseMeaning.add(this);
    CastMeaning.add(this);
    MovementMeaning.add(this);
    ProductMeaning.add(this);
    ConvolutionMeaning.add(this);
    ReductionMeaning.add(this);
    LineMeaning.add(this);
    AttentionMeaning.add(this);
    QuantizationMeaning.add(this);
    IntegerNetworkMeaning.add(this);
  }

  public static Collection<Kernel> all() {
    return java.util.Collections.unmodifiableCollection(ALL.kernels.values());
  }

  public static Optional<Kernel> find(String function) {
    return Optional.ofNullable(ALL.kernels.get(function));
  }

  /** Adds a kernel that is exact; names are without {@code partita_}. */
  void add(String function, String struct, Kernel.Meaning meaning) {
    add(function, struct, true, meaning);
  }

  void add(String function, String struct, boolean exact, Kernel.Meaning meaning) {
    String name = "partita_" + function;
    if (kernels.put(name, new Kernel(name, "partita_" + struct, exact, meaning)) != null) {
      throw new IllegalArgumentException(name + " twice");
    }
  }
}
