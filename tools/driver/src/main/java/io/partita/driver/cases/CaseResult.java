package io.partita.driver.cases;

import java.util.List;

/**
 * The result of a test case.
 *
 * @param detail the reason why it failed or isn't supported; for a passed case a note, usually
 *     empty
 * @param codes the ids of diagnostics, if it isn't supported
 * @param maxError the largest absolute difference of any element that was compared
 */
public record CaseResult(
    String name, Status status, String detail, List<String> codes, double maxError) {
  /** The status of a case. */
  public enum Status {
    PASS,
    FAIL,
    UNSUPPORTED
  }

  public CaseResult {
    codes = List.copyOf(codes);
  }

  /** {@code PASS name}, or {@code FAIL name: detail}; also with a note on what passed. */
  public String line() {
    return status + " " + name + (detail.isEmpty() ? "" : ": " + detail);
  }
}
