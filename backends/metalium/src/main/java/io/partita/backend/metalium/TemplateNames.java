package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.type.ElementType;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * What templates of kernels know by a name: functions of a release, the type of elements, and the
 * places of arguments.
 *
 * @param element the type of all elements
 */
record TemplateNames(Release release, ElementType element) {
  /** What runs a kernel; each has arguments of its own. */
  enum Processor {
    READER,
    COMPUTE,
    WRITER
  }

  /** The operands of an attention with a mask. */
  private static final int MASKED_OPERANDS = 6;

  /**
   * Returns the names of a kernel.
   *
   * @param addresses the number of its arguments that are addresses
   * @param hasRow whether an epilogue has an operand of one row
   */
  Map<String, Object> of(int addresses, boolean hasRow) {
    Map<String, Object> names = new TreeMap<>(release.names());
    names.put("release", release.version());
    // The indices of the arguments after the addresses.
    names.put("addresses", addresses);
    names.put("count", addresses + 1);
    names.put("hasRow", hasRow);
    names.put("element", element == ElementType.F32 ? "uint32_t" : "uint16_t");
    names.put("isHalf", element == ElementType.BF16);
    // -1e9, to which a mask sets scores that don't take part.
    names.put("masked", bits(Float.floatToIntBits(-1e9f)));
    return names;
  }

  /**
   * Returns the names of a kernel of a step.
   *
   * @param addresses the number of its arguments that are addresses
   */
  Map<String, Object> of(int addresses, Step step, Processor processor) {
    return controlled(of(addresses, false), step, processor);
  }

  /** Returns names with the arguments that hold the addresses of a step's words. */
  Map<String, Object> controlled(Map<String, Object> names, Step step, Processor processor) {
    int others = step.others().size();
    // Readers of any number of operands find it in their common arguments.
    String before = step.kind() == Kind.CONCAT ? "get_common_arg_val<uint32_t>(9) + " : "";
    int first =
        switch (processor) {
          case READER -> 2 + (step.kind() == Kind.CONCAT ? 0 : operands(step));
          case COMPUTE -> 2;
          case WRITER -> (step.isJoined() ? 5 : 3) + others;
        };
    Map<String, Object> all =
        controlled(names, step.control(), processor == Processor.READER ? before : "", first);
    if (isMasked(step)) {
      all.put("isMasked", true);
      all.put("prefix", "masked_");
      int masked = Float.floatToIntBits(HostNumbers.SMALLEST);
      all.put("masked", bits(masked));
    }
    if (step.kind() == Kind.EARLY_ATTENTION) {
      all.put("isEarly", true);
      all.put("prefix", "early_");
    }
    if (step.kind() == Kind.VERIFYING_ATTENTION) {
      all.put("isVerifying", true);
      all.put("prefix", "verifying_");
    }
    if (isPadded(step)) {
      all.put("isPadded", true);
      // Less than all numbers that a mask may have set all elements of a row to.
      all.put("masked", bits(Float.floatToIntBits(Float.NEGATIVE_INFINITY)));
    }
    return all;
  }

  /** Whether an attention has a mask as its last operand. */
  static boolean isMasked(Step step) {
    return step.kind() == Kind.ATTENTION && step.operands().size() == MASKED_OPERANDS;
  }

  /** Whether a softmax is one of rows that aren't whole tiles. */
  static boolean isPadded(Step step) {
    return step.kind() == Kind.SOFTMAX && step.result().columns() % Matrix.TILE != 0;
  }

  /** A number as an element. */
  private String bits(int number) {
    return "0x" + Integer.toHexString(element == ElementType.F32 ? number : number >>> 16);
  }

  private static Map<String, Object> controlled(
      Map<String, Object> names, Step.Control control, String before, int first) {
    Map<String, Object> all = new TreeMap<>(names);
    int gates = control.gates().size();
    all.put("gates", IntStream.range(first, first + gates).mapToObj(i -> before + i).toList());
    all.put("word", before + (first + gates));
    return all;
  }

  private static int operands(Step step) {
    return step.allOperands().size();
  }

  /**
   * Returns the names of a kernel of an exchange.
   *
   * @param first the argument that holds the address of the first word
   */
  Map<String, Object> exchanged(Wire wire, Step.Control control, int first) {
    Map<String, Object> names = controlled(of(0, false), control, "", first);
    names.put("isOfBytes", wire == Wire.BYTES);
    names.put("isOfBf16", wire == Wire.BF16);
    names.put("isStored", wire == Wire.STORED);
    names.put("prefix", wire.prefix());
    names.put("pack", wire == Wire.BYTES ? "copy_to_bytes" : "copy_to_bf16");
    names.put("unpack", wire == Wire.BYTES ? "copy_from_bytes" : "copy_from_bf16");
    return names;
  }
}
