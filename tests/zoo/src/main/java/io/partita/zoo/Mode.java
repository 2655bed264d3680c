package io.partita.zoo;

/** The mode in which a language model takes its tokens. */
public enum Mode {
  /** All tokens of a prompt at once, without a cache. */
  PROMPT,

  /** One token after {@code past} cached ones; the keys and values are inputs and outputs. */
  DECODE
}
