package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Suggests values of inputs that determine shapes. The import doesn't choose them, because their
 * meaning is up to the model, but it succeeds with the suggestions.
 */
final class SuggestedValues {
  /** The form of a suggested value. */
  private enum Form {
    /** Repetitions and sizes. */
    ONES,
    /** Shapes whose first extent follows from the others. */
    FIRST_OPEN,
    LAST_OPEN
  }

  private final Map<String, TensorType> declared;
  private final NumberChoice.Attempts attempts;

  /**
   * @param declared the declared types of the model's inputs
   */
  SuggestedValues(Map<String, TensorType> declared, NumberChoice.Attempts attempts) {
    this.declared = declared;
    this.attempts = attempts;
  }

  /** Returns the failed import with remedies that name values with which the import succeeds. */
  ImportResult suggested(NumberChoice.Attempt failed, ImportOptions options) {
    boolean mayBind =
        !failed.needed().isEmpty()
            && failed.needed().stream().allMatch(input -> isVector(declared.get(input)))
            && failed.result().diagnostics().stream().anyMatch(SuggestedValues::asks);
    if (!mayBind) {
      return failed.result();
    }
    for (Form form : Form.values()) {
      ImportOptions bound = options;
      for (String input : failed.needed()) {
        bound = bound.withValue(input, value(declared.get(input), form));
      }
      if (attempts.run(bound).result().module().isPresent()) {
        String remedy = "add " + text(failed, form) + ", or other values";
        return failed
            .result()
            .refused(
                failed.result().diagnostics().stream()
                    .map(each -> asks(each) ? with(remedy, each) : each)
                    .toList());
      }
    }
    return failed.result();
  }

  private static boolean isVector(TensorType type) {
    return type != null
        && type.rank() <= 1
        && type.isStatic()
        && (type.element() == ElementType.I64 || type.element() == ElementType.I32);
  }

  private static boolean asks(Diagnostic diagnostic) {
    return diagnostic.code() == ImportCode.NOT_KNOWN && diagnostic.remedy().contains(Unbound.ANY);
  }

  private static Diagnostic with(String remedy, Diagnostic each) {
    return new Diagnostic(each.code(), each.where(), each.expected(), each.found(), remedy);
  }

  private static Tensor value(TensorType type, Form form) {
    return Tensor.ofLongs(type, elements(type, form));
  }

  private static long[] elements(TensorType type, Form form) {
    long[] elements = new long[Math.toIntExact(type.shape().elements())];
    Arrays.fill(elements, 1);
    if (elements.length > 0) {
      switch (form) {
        case FIRST_OPEN -> elements[0] = -1;
        case LAST_OPEN -> elements[elements.length - 1] = -1;
        case ONES -> {}
      }
    }
    return elements;
  }

  private String text(NumberChoice.Attempt failed, Form form) {
    return failed.needed().stream()
        .map(
            input ->
                "--bind "
                    + input
                    + "="
                    + LongStream.of(elements(declared.get(input), form))
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(",")))
        .collect(Collectors.joining(" "));
  }
}
