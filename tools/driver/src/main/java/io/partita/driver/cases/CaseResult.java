package io.partita.driver.cases;

import java.util.List;

/**
 * What came of a test case.
 *
 * @param detail why it failed or isn't supported; of a case that passed a note, mostly empty
 * @param codes the diagnostics' ids, where it isn't supported
 * @param maxError the largest absolute difference of any element that was compared
 */
public record CaseResult(
    String name, Status status, String detail, List<String> codes, double maxError) {
  /** How a case ends. */
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
