package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CompileMojoTest {
  @Test
  void theDataOfAQuantizationIsRelativeToTheProject() {
    Map<String, String> options = new LinkedHashMap<>();
    options.put("weights", "int4");
    options.put("calibration", "src/model/eval.npz");
    Path folder = Path.of("project");
    Path data = folder.resolve("src").resolve("model").resolve("eval.npz");
    assertThat(CompileMojo.quantization(options, folder))
        .isEqualTo("weights=int4,calibration=" + data);
  }

  @Test
  void thereIsNoQuantizationByDefault() {
    assertThat(CompileMojo.quantization(Map.of(), Path.of("project"))).isNull();
  }
}
