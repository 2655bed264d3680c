package io.partita.zoo;

/** How a language model's file takes its tokens. */
public enum Mode {
  /** All tokens of a prompt at once, without a cache. */
  PROMPT,

  /** One token after {@code past} cached ones; the keys and values are inputs and outputs. */
  DECODE
}
