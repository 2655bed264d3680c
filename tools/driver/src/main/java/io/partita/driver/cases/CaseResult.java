package io.partita.driver.cases;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The result of a test case.
 *
 * @param detail the reason why it failed or isn't supported; for a passed case a note, usually
 *     empty
 * @param codes the ids of the diagnostics that ended it, if any did
 * @param maxError the largest absolute difference of any element that was compared
 * @param rewriteError where devices' syncs are rewritten, the relative L2 error of the outputs that
 *     they cause
 */
public record CaseResult(
    String name,
    Status status,
    String detail,
    List<String> codes,
    double maxError,
    OptionalDouble rewriteError) {
  /** The status of a case. */
  public enum Status {
    PASS,
    FAIL,
    UNSUPPORTED
  }

  /** A result without rewritten syncs. */
  public CaseResult(
      String name, Status status, String detail, List<String> codes, double maxError) {
    this(name, status, detail, codes, maxError, OptionalDouble.empty());
  }

  public CaseResult {
    codes = List.copyOf(codes);
  }

  /** {@code PASS name}, or {@code FAIL name: detail}; also with a note on what passed. */
  public String line() {
    return status + " " + name + (detail.isEmpty() ? "" : ": " + detail);
  }
}
