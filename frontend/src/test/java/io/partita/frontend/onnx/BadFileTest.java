package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests files that aren't models, or whose tensors can't be read. */
class BadFileTest {
  @TempDir Path folder;

  private void assertRead(Path file, String message) {
    assertThatThrownBy(() -> OnnxModel.read(file))
        .isInstanceOf(PartitaException.class)
        .hasMessage(message.replace("FOLDER", folder.toString()).strip());
  }

  private void assertImport(ModelProto.Builder model, String message) {
    OnnxModel read = OnnxModel.read(Models.write(folder, model));
    assertThatThrownBy(() -> new OnnxImporter(ImportOptions.NONE).importModel(read))
        .isInstanceOf(PartitaException.class)
        .hasMessage(message.strip());
  }

  @Test
  void missingFile() {
    assertRead(
        folder.resolve("none.onnx"),
        """
        error P1001: the file can't be read
          where:     FOLDER/none.onnx
          expected:  a readable file
          found:     no such file
          fix:       check the path
        """);
  }

  @Test
  void folderInsteadOfFile() {
    assertRead(
        folder,
        """
        error P1002: this is not a file
          where:     FOLDER
          expected:  an ONNX file
          found:     a folder
          fix:       use the path of the .onnx file
        """);
  }

  @Test
  void emptyFile() {
    assertRead(
        Models.write(folder, new byte[0]),
        """
        error P1003: the file is empty
          where:     FOLDER/model.onnx
          expected:  an ONNX file
          found:     no bytes
          fix:       fetch or export it again
        """);
  }

  @Test
  void otherFile() {
    assertThatThrownBy(
            () ->
                OnnxModel.read(
                    Models.write(folder, "hello, world\n".getBytes(StandardCharsets.UTF_8))))
        .isInstanceOf(PartitaException.class)
        .hasMessageStartingWith("error P1004: this is not an ONNX model, or a damaged one\n");
  }

  @Test
  void fileOfMoreThanTwoGigabytes() throws IOException {
    Path file = folder.resolve("large.onnx");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1L << 31);
    }
    assertRead(
        file,
        """
        error P1005: the file is too large
          where:     FOLDER/large.onnx
          expected:  at most 2147483647 bytes, the limit of protobuf
          found:     2147483648 bytes
          fix:       export the model with external data
        """);
  }

  @Test
  void modelWithoutGraph() {
    assertRead(
        Models.write(folder, ModelProto.newBuilder().setIrVersion(8)),
        """
        error P1006: the model has no graph
          where:     FOLDER/model.onnx
          expected:  a model with a graph
          found:     none
          fix:       check that this is the model's main file
        """);
  }

  @Test
  void otherFileThanATensor() throws IOException {
    Path file = Files.write(folder.resolve("input_0.pb"), new byte[] {(byte) 0x4a, 5, 1});
    assertThatThrownBy(() -> TensorFile.read(file))
        .isInstanceOf(PartitaException.class)
        .hasMessageStartingWith(
            "error P1016: this is not a file of one ONNX tensor, or a damaged one\n");
  }

  private static ModelProto.Builder with(TensorProto weight) {
    return Models.model(
        Models.graph()
            .addInitializer(weight)
            .addNode(Models.node("Add", List.of("x", weight.getName()), "y")));
  }

  private static TensorProto external(String location, String offset, String length) {
    TensorProto.Builder tensor =
        TensorProto.newBuilder()
            .setName("w")
            .setDataType(Models.FLOAT)
            .addDims(2)
            .setDataLocation(TensorProto.DataLocation.EXTERNAL);
    String[][] entries = {{"location", location}, {"offset", offset}, {"length", length}};
    for (String[] entry : entries) {
      tensor.addExternalData(
          StringStringEntryProto.newBuilder().setKey(entry[0]).setValue(entry[1]));
    }
    return tensor.build();
  }

  private static String outside(String location) {
    return """
    error P1010: external data lies outside the model's folder
      where:     initializer "w"
      expected:  a relative path to a file in the model's folder
      found:     location "LOCATION"
      fix:       move the data to the folder of the model, and export it with a plain file name
    """
        .replace("LOCATION", location);
  }

  @Test
  void externalDataOutsideTheFolder() throws IOException {
    for (String location : List.of("../secret", "a/../../secret", "/etc/hostname", "")) {
      assertImport(with(external(location, "0", "8")), outside(location));
    }
  }

  @Test
  void externalDataOutsideTheFolderByALink() throws IOException {
    Path inner = Files.createDirectory(folder.resolve("inner"));
    Files.write(folder.resolve("secret"), new byte[8]);
    Files.createSymbolicLink(inner.resolve("link"), folder.resolve("secret"));
    Path file = Models.write(inner, with(external("link", "0", "8")));
    OnnxModel model = OnnxModel.read(file);
    assertThatThrownBy(() -> new OnnxImporter(ImportOptions.NONE).importModel(model))
        .hasMessage(outside("link").strip());
  }

  @Test
  void missingExternalData() {
    assertImport(
        with(external("w.bin", "0", "8")),
        """
        error P1011: external data can't be read
          where:     initializer "w"
          expected:  the file w.bin in the model's folder
          found:     no such file
          fix:       put the model's data files into its folder
        """);
  }

  @Test
  void externalDataPastItsEnd() throws IOException {
    Files.write(folder.resolve("w.bin"), new byte[10]);
    for (String offset : List.of("4", "9223372036854775807", "-1")) {
      assertImport(
          with(external("w.bin", offset, "8")),
          """
          error P1012: external data ends early
            where:     initializer "w"
            expected:  8 bytes at offset OFFSET of w.bin
            found:     a file of 10 bytes
            fix:       fetch the file again, or export the model again
          """
              .replace("OFFSET", offset));
    }
  }

  @Test
  void impossibleShapes() {
    for (List<Long> dims : List.of(List.of(-1L), List.of(1L << 40, 1L << 40))) {
      assertImport(
          with(Models.floats("w", dims)),
          """
          error P1013: a tensor has an impossible shape
            where:     initializer "w"
            expected:  extents of 0 or more, and fewer than 2^31 elements
            found:     DIMS
            fix:       fetch or export the model again: the file is damaged
          """
              .replace("DIMS", dims.toString()));
    }
  }

  @Test
  void dataThatDoesNotFitTheShape() {
    assertImport(
        with(Models.floats("w", List.of(2L), 1)),
        """
        error P1014: a tensor's data doesn't fit its shape
          where:     initializer "w"
          expected:  2 numbers for f32[2]
          found:     1
          fix:       fetch or export the model again: the file is damaged
        """);
    assertImport(
        with(
            Models.floats("w", List.of(1_000_000_000L)).toBuilder()
                .setRawData(ByteString.copyFrom(new byte[8]))
                .build()),
        """
        error P1014: a tensor's data doesn't fit its shape
          where:     initializer "w"
          expected:  4000000000 bytes for f32[1000000000]
          found:     8 bytes
          fix:       fetch or export the model again: the file is damaged
        """);
  }

  @Test
  void unsupportedElements() {
    assertImport(
        with(Models.floats("w", List.of(2L), 1, 2).toBuilder().setDataType(17).build()),
        """
        error P1015: a tensor has an unsupported element type
          where:     initializer "w"
          expected:  one of f64, f32, f16, bf16, i64, i32, i16, i8, i4, u64, u32, u16, u8, u4, bool
          found:     float8e4m3fn
          fix:       export the model with another element type
        """);
  }

  /** Tests that any bits give diagnostics or a graph, never another exception. */
  @Test
  void truncatedAndFlippedFiles() throws IOException {
    Path fixtures = Path.of("../tests/fixtures");
    Random random = new Random(1);
    int damaged = 0;
    for (String name :
        List.of("llama/dynamo_eager_kv", "bert/ts_eager_dynamic", "functions/nested")) {
      byte[] good = Files.readAllBytes(fixtures.resolve(name).resolve("network.onnx"));
      for (int i = 0; i < 60; i++) {
        byte[] bytes = good.clone();
        if (i % 3 == 0) {
          bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
        } else {
          // Most of a file is weights; its structure is at both ends.
          int window = Math.min(bytes.length, 40_000);
          for (int flip = 0; flip < 1 + i % 4; flip++) {
            int at = random.nextInt(window);
            bytes[i % 2 == 0 ? at : bytes.length - 1 - at] ^= (byte) (1 << random.nextInt(8));
          }
        }
        try {
          ImportResult result =
              new OnnxImporter(ImportOptions.NONE)
                  .examine(OnnxModel.read(Models.write(folder, bytes)));
          assertThat(result.module().isPresent()).isEqualTo(result.diagnostics().isEmpty());
          assertThat(result.diagnostics())
              .noneMatch(diagnostic -> diagnostic.code() == ImportCode.INTERNAL);
          damaged += result.diagnostics().isEmpty() ? 0 : 1;
        } catch (PartitaException reported) {
          damaged++;
        }
      }
    }
    assertThat(damaged).isGreaterThan(60);
  }
}
