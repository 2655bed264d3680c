package io.partita.tests.recorded;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.npz.Npz;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** The folder of a trained model, with its validation data. */
record TrainedModel(Path folder) {
  /** A character-level Llama in the repository. */
  static final String TINY = "tiny-shakespeare";

  /** A larger one, beside the repository. */
  static final String LARGE = "shakespeare-llama";

  /** Returns one of these models; skips the test if it is missing. */
  static TrainedModel named(String name) {
    return new TrainedModel(
        name.equals(TINY)
            ? Path.of("../models", TINY)
            : SharedFolder.require("models/" + name, "it comes with the project's shared data"));
  }

  OnnxModel network(String part) {
    return OnnxModel.read(folder.resolve(part).resolve("network.onnx"));
  }

  Tensor array(String archive, String name) {
    return Npz.read(folder.resolve(archive)).get(name);
  }

  /** The contents of {@code info.json}. */
  Object info(String key) {
    return json("info.json").get(key);
  }

  /** The characters that tokens stand for. */
  String text(LongStream tokens) {
    String characters = (String) json("vocab.json").get("chars");
    return tokens
        .mapToObj(token -> characters.substring((int) token, (int) token + 1))
        .collect(Collectors.joining());
  }

  private Map<String, Object> json(String file) {
    try {
      return JSON.std.mapFrom(folder.resolve(file).toFile());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Override
  public String toString() {
    return folder.getFileName().toString();
  }
}
