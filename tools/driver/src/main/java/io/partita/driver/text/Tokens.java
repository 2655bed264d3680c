package io.partita.driver.text;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/** Translates between text and the token ids of a language model. */
public interface Tokens extends AutoCloseable {
  /**
   * Returns the ids of a text, with the special tokens that the tokenizer adds, such as a beginning
   * of sequence.
   *
   * @throws io.partita.ir.diagnostic.PartitaException P6010 if a part of it has no token
   */
  List<Integer> encode(String text);

  /**
   * Returns the text of a sequence, without special tokens. An incomplete character at its end is
   * U+FFFD.
   */
  String decode(List<Integer> ids);

  /** Returns the id of a token by its own text, such as {@code </s>}. */
  OptionalInt id(String token);

  /** The largest id plus one. */
  int size();

  /** Whether these can be the tokens of a model that gives this number of logits. */
  boolean fits(int logits);

  /** The file that defines the tokens. */
  Path file();

  @Override
  default void close() {}
}
