package io.partita.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelNameTest {
  @ParameterizedTest
  @CsvSource({
    "tiny-llama, /a/model.onnx, tiny-llama",
    "main_graph, /a/gpt2.onnx, gpt2",
    "torch_jit, /llama/model.onnx, llama",
    "torch-jit-export, /shakespeare/decode/network.onnx, shakespeare",
    "tf2onnx, /bert/onnx/model_int8.onnx, bert",
    "graph, /whisper/decoder_model_merged.onnx, whisper",
    "'', /t5/encoder_model.onnx, t5",
    "main_graph, /model.onnx, main_graph",
    "main_graph, model.onnx, main_graph",
    "main_graph, llama/../gpt2/model.onnx, gpt2",
    "torch_jit, /home/me/translator/src/main/onnx/network.onnx, torch_jit",
    "main_graph, /home/me/translator/src/test/resources/model.onnx, main_graph",
    "main_graph, /home/me/translator/src/main/resources/gpt2/model.onnx, gpt2",
    "'', /model.onnx, model",
    "main_graph, /Größe/model.onnx, Größe",
  })
  void theFirstDistinctiveNameCounts(String graph, String file, String name) {
    assertThat(ModelName.of(graph, Path.of(file))).isEqualTo(name);
  }

  @Test
  void distantFoldersDoNotCount() {
    assertThat(ModelName.of("graph", Path.of("/home/onnx/decode/past/model.onnx")))
        .isEqualTo("graph");
  }
}
