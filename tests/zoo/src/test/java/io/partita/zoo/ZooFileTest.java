package io.partita.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests sizes, bytes and layouts of the files; {@link ZooRunTest} runs them in ONNX Runtime. */
class ZooFileTest {
  private static final ZooOptions ONE_LAYER = ZooOptions.defaults().withLayers(1);

  @TempDir Path folder;

  /**
   * TinyLlama: 8 (4 E^2 + 2 E F + 2 E) + 32000 E + E, with three F matrices when gated. MobileBERT:
   * 24 (4 (E^2 + E) + 2 (E F + E) + 4 E) + (30522 + 512 + 2) E + 2 E. The others as Hugging Face's
   * classes count them: the encoder 12 (4 (E^2 + E) + 2 E F + F + E + 4 E) + 2 E, GPT-2 124,439,808
   * and 354,823,168, ViT 86,567,656, Llama 3.1 8,030,261,248 and 70,553,706,496.
   */
  @ParameterizedTest
  @CsvSource({
    "tinyllama-42m, 41558528",
    "tinyllama-42m-block, 3146752",
    "tinyllama-42m-64h, 41558528",
    "tinyllama-42m-64h-block, 3146752",
    "tinyllama-42m-gated, 41689600",
    "mobilebert, 53763072",
    "mobilebert-block, 1577984",
    "vit-base, 86567656",
    "encoder-base, 85056000",
    "gpt2-small, 124439808",
    "gpt2-medium, 354823168",
    "llama-3.1-8b, 8030261248",
    "llama-3.1-70b, 70553706496"
  })
  void countsParameters(String name, long parameters) {
    assertThat(Zoo.model(name).parameters()).isEqualTo(parameters);
  }

  @Test
  void parsesWithAllWeights() throws IOException {
    Path file = folder.resolve("model.onnx");
    ZooFile written = Zoo.write("tinyllama-42m", ONE_LAYER, file);
    assertThat(Files.size(file)).isEqualTo(written.modelBytes());
    assertThat(written.data()).isEmpty();
    ModelProto model = parse(file);
    assertThat(model.getUnknownFields().getSerializedSize()).isZero();
    assertThat(model.getSerializedSize()).isEqualTo((int) written.modelBytes());
    long parameters =
        model.getGraph().getInitializerList().stream()
            .filter(tensor -> tensor.getName().endsWith(".weight"))
            .mapToLong(tensor -> tensor.getRawData().size() / Float.BYTES)
            .sum();
    assertThat(parameters).isEqualTo(written.parameters());
  }

  @Test
  void outputIsDeterministic() throws IOException {
    Path first = folder.resolve("a.onnx");
    Path second = folder.resolve("b.onnx");
    Zoo.write("mobilebert", ONE_LAYER, first);
    Zoo.write("mobilebert", ONE_LAYER, second);
    assertThat(Files.mismatch(first, second)).isEqualTo(-1);
    Zoo.write("mobilebert", ONE_LAYER.withSeed(1), second);
    assertThat(Files.mismatch(first, second)).isNotEqualTo(-1);
  }

  /**
   * Numbers of the generator, recomputed by another program from the definition, so that any change
   * is detected.
   */
  @Test
  void numbersAreStable() {
    ByteBuffer buffer = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    Fill normal = new Fill.Normal(0, 1);
    long stream = Fill.Normal.stream(0, "model.norm.weight");
    normal.append(stream, 0, buffer);
    ByteBuffer later = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
    normal.append(stream, 2, later);
    assertThat(later.getFloat(0)).isEqualTo(buffer.getFloat(8));
    assertThat(new float[] {buffer.getFloat(0), buffer.getFloat(4), buffer.getFloat(8)})
        .containsExactly(1.318437f, -1.359719f, 0.7593844f);
  }

  @Test
  void normalNumbersAreNormallyDistributed() {
    int count = 1 << 18;
    ByteBuffer buffer = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    new Fill.Normal(1, 0.5).append(Fill.Normal.stream(0, "w"), 0, buffer);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < count; i++) {
      double value = buffer.getFloat(i * Float.BYTES) - 1;
      sum += value;
      squares += value * value;
    }
    // Five standard errors: 0.5 / sqrt(2^18) of the mean, and 0.5 / sqrt(2^19) of the deviation.
    assertThat(sum / count).isBetween(-0.005, 0.005);
    assertThat(Math.sqrt(squares / count)).isBetween(0.4965, 0.5035);
  }

  @ParameterizedTest
  @CsvSource("tinyllama-42m, model.layers.0.self_attn.q_proj.weight")
  void blocksAloneHaveTheWeightsOfTheModel(String name, String weight) throws IOException {
    Path whole = folder.resolve("whole.onnx");
    Path block = folder.resolve("block.onnx");
    Zoo.write(name, ONE_LAYER, whole);
    Zoo.write(name + "-block", ZooOptions.defaults(), block);
    Map<String, TensorProto> alone = initializers(block);
    assertThat(alone.get(weight)).isEqualTo(initializers(whole).get(weight));
    assertThat(alone.keySet()).noneMatch(each -> each.contains("embed") || each.contains("head"));
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "tinyllama-42m-64h, model.layers.0.mlp.down_proj.weight",
    "mobilebert, bert.encoder.layer.0.intermediate.dense.weight"
  })
  void otherBlocksAloneHaveTheWeightsOfTheModel(String name, String weight) throws IOException {
    blocksAloneHaveTheWeightsOfTheModel(name, weight);
  }

  @Tag("thorough")
  @Test
  void sharedLayersAreIndependentOfDepthAndMode() throws IOException {
    Path one = folder.resolve("one.onnx");
    Path two = folder.resolve("two.onnx");
    Zoo.write("tinyllama-42m", ONE_LAYER, one);
    Zoo.write("tinyllama-42m", ONE_LAYER.withLayers(2).withMode(Mode.DECODE), two);
    String name = "model.layers.0.mlp.down_proj.weight";
    assertThat(initializers(one).get(name)).isEqualTo(initializers(two).get(name));
  }

  @Tag("thorough")
  @Test
  void writesWeightsToASecondFile() throws IOException {
    Path inline = folder.resolve("inline.onnx");
    Path file = folder.resolve("model.onnx");
    Zoo.write("tinyllama-42m", ONE_LAYER, inline);
    ZooFile written = Zoo.write("tinyllama-42m", ONE_LAYER.withExternal(true), file);
    Path data = folder.resolve("model.onnx.data");
    assertThat(written.data()).contains(data);
    assertThat(Files.size(data)).isEqualTo(written.dataBytes());
    byte[] bytes = Files.readAllBytes(data);
    Map<String, TensorProto> expected = initializers(inline);
    for (TensorProto tensor : initializers(file).values()) {
      byte[] raw = expected.get(tensor.getName()).getRawData().toByteArray();
      if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
        Map<String, String> place = place(tensor);
        int offset = Integer.parseInt(place.get("offset"));
        assertThat(place.get("location")).isEqualTo("model.onnx.data");
        assertThat(Integer.parseInt(place.get("length"))).isEqualTo(raw.length);
        assertThat(Arrays.copyOfRange(bytes, offset, offset + raw.length)).isEqualTo(raw);
      } else {
        assertThat(tensor.getRawData().toByteArray()).isEqualTo(raw);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama-3.1-8b", "llama-3.1-70b"})
  void largeModelsAreCheap(String name) throws IOException {
    Path file = folder.resolve("big.onnx");
    ZooFile written = Zoo.write(name, ZooOptions.defaults(), file);
    assertThat(written.parameters()).isEqualTo(Zoo.model(name).parameters());
    assertThat(written.bytesOnDisk()).isLessThan(100_000_000);
    long size = Files.size(written.data().orElseThrow());
    for (TensorProto tensor : initializers(file).values()) {
      if (tensor.getDataLocation() == TensorProto.DataLocation.EXTERNAL) {
        Map<String, String> place = place(tensor);
        long offset = Long.parseLong(place.get("offset"));
        long length = Long.parseLong(place.get("length"));
        long elements = tensor.getDimsList().stream().reduce(1L, Math::multiplyExact);
        assertThat(length).isEqualTo(elements * Float.BYTES);
        assertThat(offset % 4096).isZero();
        assertThat(offset + length).isLessThanOrEqualTo(size);
      }
    }
  }

  /** A page of 1024 floats in a row of 4096: each page column must have numbers in some row. */
  @Test
  void sparseWeightsHaveNoEmptyColumn() throws IOException {
    Path file = folder.resolve("big.onnx");
    ZooFile written = Zoo.write("llama-3.1-8b", ONE_LAYER, file);
    TensorProto tensor = initializers(file).get("model.layers.0.self_attn.q_proj.weight");
    long offset = Long.parseLong(place(tensor).get("offset"));
    boolean[] filled = new boolean[4];
    try (FileChannel data = FileChannel.open(written.data().orElseThrow())) {
      ByteBuffer word = ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (int page = 0; page < 4 * 4096; page++) {
        data.read(word.clear(), offset + page * 4096L);
        filled[page % 4] |= word.getFloat(0) != 0;
      }
    }
    assertThat(filled).containsOnly(true);
  }

  /** Tests links to another disk, at the places of the model and of its weights. */
  @Test
  void linksAreFollowed() throws IOException {
    Path disk = Files.createDirectory(folder.resolve("large-disk"));
    Path model = Files.createSymbolicLink(folder.resolve("link.onnx"), disk.resolve("model"));
    Path weights =
        Files.createSymbolicLink(folder.resolve("link.onnx.data"), disk.resolve("weights"));
    Zoo.write("tinyllama-42m-block", ZooOptions.defaults().withExternal(true), model);
    assertThat(model).isSymbolicLink();
    assertThat(weights).isSymbolicLink();
    assertThat(initializers(model)).isNotEmpty();
    try (Stream<Path> files = Files.list(disk)) {
      assertThat(files).containsExactlyInAnyOrder(disk.resolve("model"), disk.resolve("weights"));
    }
  }

  @Test
  void namesMayBeAsLongAsTheFileSystemAllows() throws IOException {
    Path file = folder.resolve("n".repeat(250));
    Zoo.write("tinyllama-42m-block", ZooOptions.defaults(), file);
    assertThat(initializers(file)).isNotEmpty();
  }

  @Test
  void failuresLeaveNoFiles() throws IOException {
    Path absent = folder.resolve("absent/model.onnx");
    assertThatThrownBy(() -> Zoo.write("mobilebert", ONE_LAYER, absent))
        .isInstanceOf(NoSuchFileException.class);
    Path occupied = Files.createDirectories(folder.resolve("occupied/model.onnx/inside"));
    assertThatThrownBy(() -> Zoo.write("mobilebert", ONE_LAYER, occupied.getParent()))
        .isInstanceOf(IOException.class);
    try (Stream<Path> files = Files.list(folder.resolve("occupied"))) {
      assertThat(files).containsExactly(occupied.getParent());
    }
  }

  @Test
  void refusesUnknownModels() {
    refuses("bert", ZooOptions.defaults(), "model");
    refuses("mobilebert", ZooOptions.defaults().withMode(Mode.DECODE), "mode");
    refuses("mobilebert", ZooOptions.defaults().withSequence(513), "sequence");
    refuses("vit-base", ZooOptions.defaults().withSequence(16), "sequence");
    refuses("gpt2-small", ZooOptions.defaults().withSequence(0), "sequence");
    refuses("gpt2-small", ZooOptions.defaults().withLayers(0), "layers");
  }

  private void refuses(String name, ZooOptions options, String subject) {
    assertThatThrownBy(() -> Zoo.write(name, options, folder.resolve("model.onnx")))
        .isInstanceOfSatisfying(
            ZooException.class, e -> assertThat(e.subject()).isEqualTo(subject));
  }

  private static ModelProto parse(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return ModelProto.parseFrom(in);
    }
  }

  private static Map<String, TensorProto> initializers(Path file) throws IOException {
    return parse(file).getGraph().getInitializerList().stream()
        .collect(Collectors.toMap(TensorProto::getName, tensor -> tensor));
  }

  private static Map<String, String> place(TensorProto tensor) {
    return tensor.getExternalDataList().stream()
        .collect(
            Collectors.toMap(StringStringEntryProto::getKey, StringStringEntryProto::getValue));
  }
}
