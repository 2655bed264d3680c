package io.partita.ir.schedule.kernel;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The table of all kernels of the runtime by name, which legalization, lowering, costs, verifiers,
 * the evaluator and the text form use. A test compares it with the headers of {@code runtime-c}.
 */
public final class KernelTable {
  private static final KernelTable ALL = new KernelTable();

  private static final Map<String, List<Kernel>> FAMILIES =
      ALL.kernels.values().stream().collect(Collectors.groupingBy(Kernel::family));

  private static final Map<Kernel, List<Kernel>> ALIKE = new ConcurrentHashMap<>();

  private final SortedMap<String, Kernel> kernels = new TreeMap<>();
  private final Map<List<String>, Kernel> fused = new HashMap<>();

  private KernelTable() {
    ElementwiseKernels.add(this);
    CastKernels.add(this);
    MovementKernels.add(this);
    ProductKernels.add(this);
    ConvolutionKernels.add(this);
    PoolKernels.add(this);
    ReductionKernels.add(this);
    NibbleProductKernels.add(this);
    NearestCentroidKernels.add(this);
    LineKernels.add(this);
    AttentionKernels.add(this);
    IntegerAttentionKernels.add(this);
    QuantizationKernels.add(this);
    IntegerNetworkKernels.add(this);
  }

  /** Returns the kernels in the order of their names. */
  public static Collection<Kernel> all() {
    return Collections.unmodifiableCollection(ALL.kernels.values());
  }

  /**
   * @param name the name without the prefix
   */
  public static Optional<Kernel> find(String name) {
    return Optional.ofNullable(ALL.kernels.get(name));
  }

  public static boolean has(String name) {
    return ALL.kernels.containsKey(name);
  }

  /**
   * Returns a kernel that exists.
   *
   * @throws IllegalArgumentException if it does not exist
   */
  public static Kernel get(String name) {
    return find(name).orElseThrow(() -> new IllegalArgumentException("no kernel " + name));
  }

  /** Returns {@code kernel} and the same kernel for other types, the most similar first. */
  public static List<Kernel> alike(Kernel kernel) {
    return ALIKE.computeIfAbsent(kernel, KernelTable::bySimilarity);
  }

  private static List<Kernel> bySimilarity(Kernel kernel) {
    return FAMILIES.getOrDefault(kernel.family(), List.of()).stream()
        .sorted(
            Comparator.comparing((Kernel each) -> bits(each) < bits(kernel))
                .thenComparing(each -> isFloat(each) != isFloat(kernel))
                .thenComparingInt(each -> Math.abs(bits(each) - bits(kernel)))
                .thenComparing(each -> !each.equals(kernel))
                .thenComparing(Kernel::name))
        .toList();
  }

  private static int bits(Kernel kernel) {
    return kernel.elements().stream().mapToInt(ElementType::bits).sum();
  }

  private static boolean isFloat(Kernel kernel) {
    return kernel.elements().stream().anyMatch(ElementType::isFloat);
  }

  /** Returns the fused kernel of two others. */
  public static Optional<Kernel> fused(Kernel product, Kernel end) {
    return Optional.ofNullable(ALL.fused.get(List.of(product.name(), end.name())));
  }

  /** Adds an exact kernel, with the rate of its first operand. */
  void add(
      KernelStruct struct,
      String name,
      KernelClass kernelClass,
      List<ElementType> elements,
      Kernel.Meaning meaning) {
    add(struct, name, kernelClass, elements, true, meaning);
  }

  void add(
      KernelStruct struct,
      String name,
      KernelClass kernelClass,
      List<ElementType> elements,
      boolean exact,
      Kernel.Meaning meaning) {
    ElementType first = elements.getFirst();
    ElementType element = first.bits() < Byte.SIZE ? elements.getLast() : first;
    add(new Kernel(name, struct, elements, kernelClass, element, exact, meaning, Optional.empty()));
  }

  void add(Kernel kernel) {
    if (kernels.put(kernel.name(), kernel) != null) {
      throw new IllegalArgumentException(kernel.name() + " twice");
    }
    kernel.epilogue().ifPresent(each -> fused.put(List.of(each.product(), each.end()), kernel));
  }
}
