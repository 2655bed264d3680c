package io.partita.zoo;

/** A model or an option that the zoo doesn't have, or that doesn't fit the model. */
public final class ZooException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String subject;
  private final String expected;
  private final String found;

  /**
   * @param subject the model or the option in question
   * @param expected the valid values
   * @param found the given value
   */
  public ZooException(String subject, String expected, String found) {
    super(subject + ": expected " + expected + ", found " + found);
    this.subject = subject;
    this.expected = expected;
    this.found = found;
  }

  public String subject() {
    return subject;
  }

  public String expected() {
    return expected;
  }

  public String found() {
    return found;
  }
}
