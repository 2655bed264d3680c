package io.partita.driver.text;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The tokens that end a text. */
public final class StopTokens {
  /** The files beside {@code tokenizer.json} that name the ends of a sequence, the best first. */
  private static final List<String> CONFIGURATIONS =
      List.of("generation_config.json", "config.json", "tokenizer_config.json");

  private StopTokens() {}

  /**
   * Returns the ends of a sequence that the files beside {@code tokenizer.json} name; none if there
   * are no such files.
   */
  public static Set<Integer> configured(Tokens tokens) {
    for (String name : CONFIGURATIONS) {
      Path file = tokens.file().resolveSibling(name);
      Set<Integer> ends = Files.isRegularFile(file) ? ends(file, tokens) : Set.of();
      if (!ends.isEmpty()) {
        return ends;
      }
    }
    return Set.of();
  }

  private static Set<Integer> ends(Path file, Tokens tokens) {
    Set<Integer> ends = new TreeSet<>();
    try {
      SmallFile.verifyEnds(file);
      if (JSON.std.anyFrom(Files.readAllBytes(file)) instanceof Map<?, ?> configuration) {
        add(configuration.get("eos_token_id"), tokens, ends);
        add(configuration.get("eos_token"), tokens, ends);
      }
    } catch (JacksonException malformed) {
      throw new PartitaException(
          DriverCode.BAD_VOCABULARY,
          file.toString(),
          "the model's configuration as JSON",
          malformed.getOriginalMessage(),
          "repair or remove the file");
    } catch (IOException unreadable) {
      throw OutputFile.failure(file, unreadable);
    }
    return ends;
  }

  private static void add(Object end, Tokens tokens, Set<Integer> ends) {
    switch (end) {
      case Integer id -> ends.add(id);
      case String text -> tokens.id(text).ifPresent(ends::add);
      case List<?> several -> several.forEach(each -> add(each, tokens, ends));
      case Map<?, ?> token -> add(token.get("content"), tokens, ends);
      case null, default -> {}
    }
  }

  /**
   * Returns the id of a token that the user names.
   *
   * @param token its text, such as {@code </s>}, or its id
   * @throws PartitaException P6010 if there is no such token
   */
  public static int named(String token, Tokens tokens) {
    return tokens
        .id(token)
        .orElseGet(
            () -> {
              if (token.matches("\\d{1,9}") && Integer.parseInt(token) < tokens.size()) {
                return Integer.parseInt(token);
              }
              throw new PartitaException(
                  DriverCode.BAD_VOCABULARY,
                  "--stop " + token,
                  "the text of a token in " + tokens.file() + ", or an id below " + tokens.size(),
                  "no such token",
                  "give one token, as the file spells it");
            });
  }
}
