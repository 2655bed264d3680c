package io.partita.ir.schedule.kernel;

import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A kernel of the runtime.
 *
 * @param name the name in C without the prefix, {@code gemm_i8_i8}; also the name of its figures in
 *     a target
 * @param elements the element types of operands and results, in the order of {@code struct}. A
 *     kernel that moves elements of a width has the signed integer type of that width
 * @param kernelClass the class of its rate if the target has no figures for it
 * @param element the element type of that rate
 * @param exact whether {@code meaning} gives the same bits as the C kernel compiled without
 *     contraction; otherwise both are within the error bound in the header
 * @param epilogue the two kernels to which it is equivalent, if any
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

  /** Reads and writes the memory of the arguments. */
  @FunctionalInterface
  public interface Meaning {
    void run(KernelArguments arguments);
  }

  /** The name without element types. */
  public String family() {
    return TYPES.matcher(name).replaceFirst("");
  }

  /**
   * Whether it can be an epilogue: it computes each element of its result from those at the same
   * position, so that it can run in place on a tile that another kernel has finished.
   */
  public boolean isEpilogue() {
    return !struct.inPlace().isEmpty() && elements.getFirst().bits() == elements.getLast().bits();
  }

  /** The name in C. */
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
