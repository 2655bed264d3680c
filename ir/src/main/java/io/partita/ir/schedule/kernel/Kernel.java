package io.partita.ir.schedule.kernel;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A kernel of the runtime.
 *
 * @param name its name in C without the prefix, {@code gemm_i8_i8}; the name of its figures in a
 *     target
 * @param elements of its operands and its result, in the order in which {@code struct} counts them.
 *     A kernel that only moves elements of so many bits has the signed integer of that width
 * @param kernelClass which of a chip's rates it has where the target doesn't have its own figures
 * @param element of which type that rate is
 * @param exact whether {@code meaning} gives the same bits as the C kernel compiled without
 *     contraction; otherwise both are within the bound that the kernel's header states
 * @param epilogue if it does what two kernels do
 */
public record Kernel(
    String name,
    KernelStruct struct,
    List<ElementType> elements,
    KernelClass kernelClass,
    ElementType element,
    boolean exact,
    Meaning meaning,
    Optional<Epilogue> epilogue) {
  public static final String PREFIX = "partita_";

  private static final Pattern TYPES = Pattern.compile("(_(b?f|[iu])\\d+|_bool|_\\d+)+$");

  public Kernel {
    elements = List.copyOf(elements);
  }

  /** Reads what the arguments point to, and writes results there. */
  @FunctionalInterface
  public interface Meaning {
    void run(KernelArguments arguments);
  }

  /** Its name without element types: that of the same kernel for others. */
  public String family() {
    return TYPES.matcher(name).replaceFirst("");
  }

  /**
   * Whether it can be an epilogue: it computes each element of its result from those at the same
   * place, so that it can run in place on a tile that another kernel has finished.
   */
  public boolean isEpilogue() {
    return !struct.inPlace().isEmpty() && elements.getFirst().bits() == elements.getLast().bits();
  }

  /** Its name in C. */
  public String function() {
    return PREFIX + name;
  }

  /** Names are unique. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Kernel kernel && kernel.name.equals(name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
