package io.partita.cli;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.progress.ProgressListener;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooException;
import io.partita.zoo.ZooModel;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The file of a model that the user names; a zoo model is generated temporarily.
 *
 * @param dims the user's dimensions, and for a zoo model its default length
 * @param capacity the capacity of the KV cache, for a zoo decoder
 * @param folder the folder of a generated file
 */
record ModelSource(
    Path file, Map<String, Long> dims, OptionalLong capacity, Optional<ScratchFolder> folder)
    implements AutoCloseable {
  private static final String LENGTH = "seq";

  /** A file takes precedence over a zoo model of the same name. */
  static ModelSource of(
      GivenModel model, ZooModelOptions options, Map<String, Long> dims, ProgressListener progress)
      throws IOException {
    Optional<String> zooModel = model.zooModel();
    if (zooModel.isEmpty()) {
      return new ModelSource(model.path(), dims, OptionalLong.empty(), Optional.empty());
    }
    String name = model.path().toString();
    if (!zooModel.get().equals(name)) {
      throw new PartitaException(
          ZooDiagnostic.NOT_IN_THE_ZOO,
          "MODEL",
          "a .onnx or .pir file, or a zoo model: " + String.join(", ", Zoo.names()),
          name,
          NearestName.suggestion(zooModel.get()));
    }
    progress.step("making " + name);
    // It is also deleted when the process ends.
    ScratchFolder folder = new ScratchFolder();
    try {
      return made(Zoo.model(name), options, dims, folder);
    } catch (ZooException e) {
      folder.close();
      throw new PartitaException(
          ZooDiagnostic.NOT_IN_THE_ZOO,
          e.subject(),
          e.expected(),
          e.found(),
          "correct the option; partita plan --help lists them");
    } catch (IOException e) {
      folder.close();
      throw ScratchFolder.unwritable(folder.path(), e);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  private static ModelSource made(
      ZooModel model, ZooModelOptions options, Map<String, Long> dims, ScratchFolder folder)
      throws IOException {
    Mode mode = options.mode.mode();
    ZooOptions usual = ZooOptions.defaults().withMode(mode);
    OptionalInt layers =
        options.layers == null ? OptionalInt.empty() : OptionalInt.of(options.layers);
    boolean isOpen = mode == Mode.DECODE || model.decodes();
    ZooOptions chosen =
        new ZooOptions(usual.seed(), layers, mode, OptionalInt.empty(), isOpen, false);
    Path file = folder.path().resolve(model.name() + ".onnx");
    Zoo.write(model.name(), chosen, file);
    Map<String, Long> all = new LinkedHashMap<>();
    if (isOpen && mode == Mode.PROMPT) {
      all.put(LENGTH, (long) model.promptLength());
    }
    all.putAll(dims);
    OptionalLong capacity =
        mode == Mode.DECODE ? OptionalLong.of(model.decodeLength()) : OptionalLong.empty();
    return new ModelSource(file, all, capacity, Optional.of(folder));
  }

  @Override
  public void close() {
    folder.ifPresent(ScratchFolder::close);
  }
}
