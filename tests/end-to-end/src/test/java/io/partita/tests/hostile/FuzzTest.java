package io.partita.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.driver.npz.Npz;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.TensorFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.fuzz.ByteMutator;
import io.partita.ir.fuzz.Fuzzer;
import io.partita.ir.text.PirFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests damaged files of every kind that Partita reads: each gives a diagnostic or a result in
 * bounded time. The trials are deterministic and end after a time; {@code -Dfuzz.seconds=3600
 * -Dfuzz.seed=7} runs others for an hour. {@link LongFuzzTest} takes longer.
 */
class FuzzTest {
  private static final Path KEPT = Path.of("target", "fuzz");
  private static final int MAX_FILE = 200_000;

  /**
   * One in this many models is damaged as text, since to write all takes longer than the trials.
   */
  private static final int WRITTEN = 8;

  @TempDir Path folder;

  /** The default duration. */
  double seconds() {
    return 6;
  }

  @Test
  void readsDamagedModels() throws IOException {
    List<byte[]> models = files(".onnx");
    List<ModelProto> parsed = new ArrayList<>();
    TreeSet<String> operators = new TreeSet<>();
    for (byte[] model : models) {
      ModelProto proto = ModelProto.parseFrom(model);
      parsed.add(proto);
      proto.getGraph().getNodeList().stream().map(NodeProto::getOpType).forEach(operators::add);
    }
    List<String> names = List.copyOf(operators);
    run(
        "model",
        0.7,
        random -> {
          int at = random.nextInt(models.size());
          return random.nextInt(5) == 0
              ? new ByteMutator(random).mutate(models.get(at))
              : new ModelMutator(random, names).mutate(parsed.get(at)).toByteArray();
        },
        Trial::onnx);
  }

  @Test
  void readsDamagedText() throws IOException {
    List<byte[]> texts = new ArrayList<>();
    List<byte[]> models = files(".onnx");
    for (int i = 0; i < models.size(); i += WRITTEN) {
      byte[] model = models.get(i);
      Path file = folder.resolve("module" + texts.size() + ".pir");
      Path onnx = Files.write(folder.resolve("model.onnx" + texts.size()), model);
      try {
        PirFile.write(new OnnxImporter(ImportOptions.NONE).importModel(OnnxModel.read(onnx)), file);
        texts.add(Files.readAllBytes(file));
      } catch (PartitaException notImported) {
        // The existing ones suffice.
      }
    }
    assertThat(texts).isNotEmpty();
    run(
        "text",
        0.15,
        random -> new ByteMutator(random).mutate(any(texts, random)),
        (file, random) -> Trial.module(PirFile.read(file), random));
  }

  @Test
  void readsDamagedArrays() throws IOException {
    List<byte[]> archives = files(".npz");
    run(
        "archive",
        0.1,
        random -> new ByteMutator(random).mutate(any(archives, random)),
        (file, random) -> Npz.read(file));
  }

  @Test
  void readsDamagedTensors() throws IOException {
    List<byte[]> tensors = new ArrayList<>();
    for (byte[] model : files(".onnx")) {
      ModelProto.parseFrom(model).getGraph().getInitializerList().stream()
          .filter(tensor -> tensor.getSerializedSize() < 1000)
          .forEach(tensor -> tensors.add(tensor.toByteArray()));
    }
    run(
        "tensor",
        0.05,
        random -> new ByteMutator(random).mutate(any(tensors, random)),
        (file, random) -> TensorFile.read(file));
  }

  private static byte[] any(List<byte[]> files, RandomGenerator random) {
    return files.get(random.nextInt(files.size()));
  }

  private void run(String name, double share, Fuzzer.Source source, Fuzzer.Target target)
      throws IOException {
    Fuzzer fuzzer = new Fuzzer(name, KEPT);
    fuzzer.run(seconds(), share, source, target);
    assertThat(fuzzer.findings()).isEmpty();
    assertThat(fuzzer.trials()).isPositive();
  }

  /** Returns the fixtures' files with an extension, and those of ONNX's node tests if available. */
  private static List<byte[]> files(String ending) throws IOException {
    List<byte[]> files = new ArrayList<>();
    for (Path root : List.of(Repository.FIXTURES, Repository.CONFORMANCE)) {
      if (!Files.isDirectory(root)) {
        System.out.println("fuzz: " + root + " is not there; its files are left out");
        continue;
      }
      try (Stream<Path> paths = Files.walk(root)) {
        for (Path path : paths.filter(p -> p.toString().endsWith(ending)).sorted().toList()) {
          if (Files.size(path) <= MAX_FILE) {
            files.add(Files.readAllBytes(path));
          }
        }
      }
    }
    assertThat(files).isNotEmpty();
    return files;
  }
}
