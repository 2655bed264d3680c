package io.partita.driver.text;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The tokens of a language model.
 *
 * <p>Text is split from left to right into the longest matching tokens. This is exact for
 * vocabularies of single characters; a model trained on another segmentation (byte-pair encoding)
 * sees valid tokens, but may have been trained on others.
 */
public final class Vocabulary implements Tokens {
  private final Path file;
  private final List<String> tokens;
  private final Map<String, Integer> ids = new HashMap<>();
  private int longest = 1;

  private Vocabulary(Path file, List<String> tokens) {
    this.file = file;
    this.tokens = tokens;
    for (int id = 0; id < tokens.size(); id++) {
      String token = tokens.get(id);
      if (!token.isEmpty()) {
        ids.putIfAbsent(token, id);
        longest = Math.max(longest, token.length());
      }
    }
  }

  /**
   * Reads a JSON file in one of these forms: {@code {"chars": "abc"}}, where a character's index is
   * its id; {@code ["a", "b"]}; {@code {"a": 0, "b": 1}}; {@code {"0": "a", "1": "b"}}.
   *
   * @throws PartitaException if it has none of these forms
   */
  public static Vocabulary read(Path file) {
    try {
      SmallFile.verifyEnds(file);
      return new Vocabulary(file, tokens(file, JSON.std.anyFrom(Files.readString(file))));
    } catch (JacksonException malformed) {
      throw bad(file, "not JSON: " + malformed.getOriginalMessage());
    } catch (CharacterCodingException binary) {
      throw bad(file, "no text in UTF-8");
    } catch (IOException unreadable) {
      throw OutputFile.failure(file, unreadable);
    }
  }

  private static List<String> tokens(Path file, Object json) {
    return switch (json) {
      case Map<?, ?> map when map.get("chars") instanceof String characters ->
          characters.codePoints().mapToObj(Character::toString).toList();
      case Map<?, ?> map -> byId(file, map);
      case List<?> list when list.stream().allMatch(String.class::isInstance) ->
          list.stream().map(String.class::cast).toList();
      case null, default -> throw bad(file, "another form of JSON");
    };
  }

  private static List<String> byId(Path file, Map<?, ?> map) {
    String[] tokens = new String[map.size()];
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      String token;
      long id;
      if (entry.getValue() instanceof Number number) {
        token = entry.getKey().toString();
        id = number.longValue();
      } else if (entry.getValue() instanceof String text
          && entry.getKey().toString().matches("\\d{1,9}")) {
        token = text;
        id = Long.parseLong(entry.getKey().toString());
      } else {
        throw bad(file, "the entry " + entry);
      }
      if (id < 0 || id >= tokens.length || tokens[(int) id] != null) {
        throw bad(file, "the id " + id + " outside 0 to " + (tokens.length - 1) + ", or twice");
      }
      tokens[(int) id] = token;
    }
    return List.of(tokens);
  }

  private static PartitaException bad(Path file, String found) {
    return new PartitaException(
        DriverCode.BAD_VOCABULARY,
        file.toString(),
        "JSON: {\"chars\": \"abc\"}, a list of tokens, or tokens and their ids",
        found,
        "write the vocabulary in one of these forms");
  }

  @Override
  public int size() {
    return tokens.size();
  }

  @Override
  public boolean fits(int logits) {
    return tokens.size() == logits;
  }

  @Override
  public Path file() {
    return file;
  }

  @Override
  public OptionalInt id(String token) {
    Integer id = ids.get(token);
    return id == null ? OptionalInt.empty() : OptionalInt.of(id);
  }

  @Override
  public String decode(List<Integer> sequence) {
    return sequence.stream()
        .map(id -> id >= 0 && id < tokens.size() ? tokens.get(id) : "\ufffd")
        .collect(Collectors.joining());
  }

  @Override
  public List<Integer> encode(String text) {
    List<Integer> result = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int length = Math.min(longest, text.length() - at);
      while (length > 0 && !ids.containsKey(text.substring(at, at + length))) {
        length--;
      }
      if (length == 0) {
        throw new PartitaException(
            DriverCode.BAD_VOCABULARY,
            "the prompt at position " + at,
            "text that consists of tokens in " + file,
            "'" + Character.toString(text.codePointAt(at)) + "'",
            "change the prompt, or give the model's own vocabulary");
      }
      result.add(ids.get(text.substring(at, at + length)));
      at += length;
    }
    return result;
  }
}
