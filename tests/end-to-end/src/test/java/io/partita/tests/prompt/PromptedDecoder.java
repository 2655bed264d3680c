package io.partita.tests.prompt;

import io.partita.backend.java.DeviceHosting;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.LanguageModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** A trained decoder that takes any number of tokens, and the text that it writes. */
final class PromptedDecoder {
  static final Path MODEL = Path.of("../models/tiny-shakespeare-prompt/network.onnx");

  static final int CAPACITY = 64;

  private PromptedDecoder() {}

  /**
   * @param chunk the tokens taken at once; 1 for only a single-token entry point
   */
  static Compilation.Request request(long chunk) {
    return new Compilation.Request(
        MODEL,
        chunk == 1
            ? Map.of("past", (long) CAPACITY, "sequence_length", 1L)
            : Map.of("past", (long) CAPACITY),
        Map.of(),
        null,
        chunk == 1 ? OptionalLong.empty() : OptionalLong.of(chunk));
  }

  /** The expected tokens of {@link #written}, from a Java program. */
  static List<Integer> inJava(long chunk, int devices, Path folder) {
    new Compilation(note -> {}, step -> {})
        .compile(
            request(chunk),
            Distribution.strategy(devices, null).map(Sharding::of),
            JavaTarget.USUAL,
            folder);
    return written(new JavaModel(folder, new DeviceHosting.Threads()), folder);
  }

  /**
   * A prompt that ends inside a chunk, some text, another prompt from there, more text, a third
   * prompt that fits the cache only token by token, and text to the end of the cache; then another
   * prompt from the start.
   */
  static List<Integer> written(CompiledModel program, Path folder) {
    List<Integer> all = new ArrayList<>();
    try (LanguageModel model = new LanguageModel(program, folder)) {
      List<Integer> tokens = new ArrayList<>();
      feed(tokens, 30, 27, 25, 17, 27, 10, 1);
      write(model, tokens, 3);
      feed(tokens, 20, 46, 43, 1, 49, 47);
      write(model, tokens, 4);
      for (int i = 0; i < 43; i++) {
        feed(tokens, 39 + i * 7 % 26);
      }
      write(model, tokens, 1);
      all.addAll(tokens);
      List<Integer> again = new ArrayList<>();
      feed(again, 20, 46, 43, 1);
      write(model, again, 6);
      all.addAll(again);
    }
    return all;
  }

  private static void feed(List<Integer> tokens, int... more) {
    for (int token : more) {
      tokens.add(token);
    }
  }

  private static void write(LanguageModel model, List<Integer> tokens, int count) {
    for (int i = 0; i < count; i++) {
      tokens.add(LanguageModel.argMax(model.next(tokens)));
    }
  }
}
