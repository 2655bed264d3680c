package io.partita.driver.text;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.SmallFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The tokens that a {@code tokenizer.json} of Hugging Face defines, of any of its models (byte-pair
 * encoding, unigram, word pieces). The library {@code tokenizers}, through its binding in DJL,
 * encodes and decodes, so ids are those of the model's own tokenizer.
 */
public final class TokenizerFile implements Tokens {
  private static final Map<String, String> AS_WRITTEN =
      Map.of("truncation", "false", "padding", "false", "addSpecialTokens", "true");

  private final Path file;
  private final HuggingFaceTokenizer tokenizer;
  private final Map<String, Integer> ids;

  private TokenizerFile(Path file, HuggingFaceTokenizer tokenizer, Map<String, Integer> ids) {
    this.file = file;
    this.tokenizer = tokenizer;
    this.ids = ids;
  }

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @throws PartitaException P6010 if the library refuses it, P6024 if the library isn't there
   */
  public static TokenizerFile read(Path file) {
    byte[] bytes;
    Map<String, Integer> ids;
    try {
      SmallFile.verifyEnds(file);
      bytes = Files.readAllBytes(file);
      ids = ids(file, JSON.std.anyFrom(bytes));
    } catch (JacksonException malformed) {
      throw bad(file, "not JSON: " + malformed.getOriginalMessage());
    } catch (IOException unreadable) {
      throw OutputFile.failure(file, unreadable);
    }
    configure();
    try {
      return new TokenizerFile(
          file, HuggingFaceTokenizer.newInstance(new ByteArrayInputStream(bytes), AS_WRITTEN), ids);
    } catch (LinkageError | IllegalStateException | IOException missing) {
      throw new PartitaException(
          DriverCode.NO_TOKENIZER_LIBRARY,
          file.toString(),
          "the library ai.djl.huggingface:tokenizers, and its native part for this system",
          missing.toString(),
          "add the library to the class path, or give the tokens with --vocab");
    } catch (RuntimeException refused) {
      throw bad(file, String.valueOf(refused.getMessage()));
    }
  }

  /**
   * The library must neither report its use nor look for GPUs, and unpacks its native part once.
   */
  private static void configure() {
    System.setProperty("OPT_OUT_TRACKING", "true");
    if (System.getenv("RUST_FLAVOR") == null) {
      System.setProperty("RUST_FLAVOR", "cpu");
    }
    if (System.getenv("ENGINE_CACHE_DIR") == null
        && System.getProperty("ENGINE_CACHE_DIR") == null) {
      String caches = System.getenv("XDG_CACHE_HOME");
      Path folder =
          caches == null || caches.isEmpty()
              ? Path.of(System.getProperty("user.home"), ".cache")
              : Path.of(caches);
      System.setProperty("ENGINE_CACHE_DIR", folder.resolve("partita").toString());
    }
  }

  /** A model's vocabulary is an object of tokens and ids, or a list of tokens and their scores. */
  private static Map<String, Integer> ids(Path file, Object json) {
    if (!(json instanceof Map<?, ?> root && root.get("model") instanceof Map<?, ?> model)) {
      throw bad(file, "JSON without a \"model\"");
    }
    Map<String, Integer> ids = new HashMap<>();
    switch (model.get("vocab")) {
      case Map<?, ?> tokens ->
          tokens.forEach(
              (token, id) -> {
                if (id instanceof Integer number) {
                  ids.put(token.toString(), number);
                }
              });
      case List<?> tokens -> {
        for (int id = 0; id < tokens.size(); id++) {
          if (tokens.get(id) instanceof List<?> scored && !scored.isEmpty()) {
            ids.putIfAbsent(String.valueOf(scored.getFirst()), id);
          }
        }
      }
      case null, default -> throw bad(file, "a model without a \"vocab\"");
    }
    if (root.get("added_tokens") instanceof List<?> added) {
      for (Object each : added) {
        if (each instanceof Map<?, ?> token && token.get("id") instanceof Integer id) {
          ids.put(String.valueOf(token.get("content")), id);
        }
      }
    }
    return ids;
  }

  private static PartitaException bad(Path file, String found) {
    return new PartitaException(
        DriverCode.BAD_VOCABULARY,
        file.toString(),
        "a tokenizer.json as the library 'tokenizers' writes it",
        found,
        "give the tokenizer.json that belongs to the model; a plain list of tokens is read by"
            + " --vocab");
  }

  @Override
  public List<Integer> encode(String text) {
    return Arrays.stream(tokenizer.encode(text, true, false).getIds())
        .mapToObj(Math::toIntExact)
        .toList();
  }

  @Override
  public String decode(List<Integer> sequence) {
    return tokenizer.decode(sequence.stream().mapToLong(id -> id).toArray(), true);
  }

  @Override
  public OptionalInt id(String token) {
    Integer id = ids.get(token);
    return id == null ? OptionalInt.empty() : OptionalInt.of(id);
  }

  @Override
  public int size() {
    return ids.values().stream().mapToInt(id -> id + 1).max().orElse(0);
  }

  /** Models often have a few more logits than tokens, for a rounder extent. */
  @Override
  public boolean fits(int logits) {
    return size() <= logits;
  }

  @Override
  public Path file() {
    return file;
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
