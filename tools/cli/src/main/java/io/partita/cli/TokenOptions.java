package io.partita.cli;

import io.partita.driver.text.TokenizerFile;
import io.partita.driver.text.Tokens;
import io.partita.driver.text.Vocabulary;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options for the tokens of a language model, of which one is given. */
final class TokenOptions {
  @Option(
      names = "--tokenizer",
      paramLabel = "FILE",
      description = "The model's tokenizer: a tokenizer.json of Hugging Face.")
  Path tokenizer;

  @Option(
      names = "--vocab",
      paramLabel = "FILE",
      description = "The tokens (JSON): {\"chars\": \"abc\"}, a list, or tokens and their ids.")
  Path vocabulary;

  Tokens tokens() {
    return tokenizer == null ? Vocabulary.read(vocabulary) : TokenizerFile.read(tokenizer);
  }
}
