package io.partita.backend.java.code;

import io.partita.backend.java.code.Kernel.Variant;
import io.partita.ir.type.ElementType;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The kernels that the steps call, in alphabetical order. */
final class Kernels {
  /** A kernel in one variant. */
  record Used(Kernel kernel, Variant variant) {}

  private final TreeMap<String, Used> used = new TreeMap<>();

  /** The names of methods of loops, by their parameters and statements. */
  private final Map<String, String> loops = new HashMap<>();

  private final Map<String, Integer> loopNumbers = new HashMap<>();

  /** The method's name. */
  String use(Kernel kernel) {
    return use(kernel, Variant.PLAIN);
  }

  String use(Kernel kernel, Variant variant) {
    String name = variant.print(kernel.name());
    // Overloads for float and double share a name.
    Variant kept = isTyped(kernel) ? variant : Variant.PLAIN;
    if (used.putIfAbsent(name + " " + kept.print(kernel.header()), new Used(kernel, kept))
        == null) {
      kernel.uses().forEach(other -> use(other, variant));
    }
    return name;
  }

  /**
   * A method of a loop that steps have in common. Loops with other statements get other names.
   *
   * @param name the method's name, to which a number may be appended
   * @param functions what the loop computes, for its comment
   * @return the method's name
   */
  String useLoop(String name, String functions, String parameters, String statements) {
    String key = name + "(" + parameters + ")" + statements;
    String known = loops.get(key);
    if (known != null) {
      return known;
    }
    int number = loopNumbers.merge(name, 1, Integer::sum);
    String unique = number == 1 ? name : name + "_" + number;
    loops.put(key, unique);
    String header = "static void " + unique + "(" + parameters + ")";
    return use(new Kernel(unique, "A loop of " + functions + ".", header, statements, List.of()));
  }

  private static boolean isTyped(Kernel kernel) {
    String text = kernel.header() + kernel.body();
    return text.matches("(?s).*(\\breal\\b|@|TILES|SUMS).*");
  }

  /** The variant for arrays of a float type; 16-bit floats are widened to float. */
  static Variant realOf(ElementType element) {
    return element == ElementType.F64 ? Variant.DOUBLE : Variant.FLOAT;
  }

  /** The variant for weights of a float type in the weights file. */
  static Variant weightsOf(ElementType element) {
    return switch (element) {
      case F64 -> Variant.DOUBLE;
      case F32 -> Variant.FLOAT;
      case F16 -> Variant.HALF;
      case BF16 -> Variant.BFLOAT;
      case I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
          throw new IllegalArgumentException(element.text());
    };
  }

  /** Whether a kernel works on {@code TILES} or {@code SUMS} of this type. */
  boolean usesTile(String real) {
    return used.values().stream()
        .anyMatch(
            u ->
                u.variant()
                    .print(u.kernel().body())
                    .matches("(?s).*\\b" + real + "(Tiles|Sums)\\b.*"));
  }

  Collection<Used> all() {
    return used.values();
  }
}
