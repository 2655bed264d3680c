package io.partita.ir.schedule.eval;

/**
 * What a kernel of the runtime computes.
 *
 * @param function its name in C
 * @param struct the tag of its arguments' struct
 * @param exact whether it gives the same bits as the C kernel compiled without contraction;
 *     otherwise both are within the bound that the kernel's header states
 */
public record Kernel(String function, String struct, boolean exact, Meaning meaning) {
  /** Reads what the arguments point to, and writes results there. */
  @FunctionalInterface
  public interface Meaning {
    void run(KernelArguments arguments);
  }
}
