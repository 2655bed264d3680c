package io.partita.ir.target;

/** Dimensions of quantities. */
public enum Dimension {
  COUNT("a number"),
  BYTES("bytes"),
  FREQUENCY("a frequency"),
  CYCLES("cycles"),
  BYTES_PER_CYCLE("bytes per cycle"),
  MACS_PER_CYCLE("multiply-accumulates per cycle"),
  ELEMENTS_PER_CYCLE("elements per cycle"),
  BYTES_PER_SECOND("bytes or bits per second"),
  JOULES_PER_BYTE("joules per byte"),
  WATTS("watts"),
  SECONDS("a time");

  private final String text;

  Dimension(String text) {
    this.text = text;
  }

  /** Returns text for messages, such as {@code bytes per cycle}. */
  public String text() {
    return text;
  }
}
