package io.partita.cli;

import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.driver.text.Tokens;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** Options for a prompt, of which one is given. */
final class PromptOptions {
  @Option(names = "--prompt", paramLabel = "TEXT", description = "The beginning of the text.")
  String text;

  @Option(
      names = "--prompt-file",
      paramLabel = "FILE",
      description = "A file with the beginning, in UTF-8; - for standard input.")
  String file;

  /** The option that gives the prompt, for messages. */
  String option() {
    return text == null ? "--prompt-file " + file : "--prompt";
  }

  String prompt() {
    if (text != null) {
      return text;
    }
    Path path = Path.of(file);
    try {
      byte[] bytes = file.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(path);
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException malformed) {
      throw new PartitaException(
          DriverCode.FILE,
          option(),
          "a text in UTF-8",
          "bytes that aren't UTF-8",
          "convert the text");
    } catch (IOException unreadable) {
      throw OutputFile.failure(path, unreadable);
    }
  }

  /**
   * Returns the prompt's tokens.
   *
   * @throws PartitaException P6010 if there is none
   */
  List<Integer> encode(Tokens tokens, String prompt) {
    List<Integer> sequence = tokens.encode(prompt);
    if (sequence.isEmpty()) {
      throw new PartitaException(
          DriverCode.BAD_VOCABULARY, option(), "at least one token", "an empty text", "give one");
    }
    return sequence;
  }
}
