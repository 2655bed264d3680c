package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ports/stacks.awk} on call graphs as GCC writes them. */
class StackDepthTest {
  private static final String MAIN =
      """
      graph: { title: "main.c"
      node: { title: "begin" label: "begin\\nmain.c:9:6\\n16 bytes (static)" }
      node: { title: "main.c:deep" label: "deep\\nmain.c:5:6\\n100 bytes (static)" }
      node: { title: "main.c:wide" label: "wide\\nmain.c:7:6\\n120 bytes (dynamic,bounded)" }
      node: { title: "work" label: "work\\nwork.h:1:6" shape : ellipse }
      edge: { sourcename: "begin" targetname: "main.c:deep" label: "main.c:10:5" }
      edge: { sourcename: "begin" targetname: "main.c:wide" label: "main.c:11:5" }
      edge: { sourcename: "main.c:deep" targetname: "work" label: "main.c:6:5" }
      }
      """;

  private static final String WORK =
      """
      graph: { title: "kernels/work.c"
      node: { title: "work" label: "work\\nruntime/kernels/work.c:2:6\\n32 bytes (static)" }
      node: { title: "__divdi3" label: "__divdi3\\n<built-in>" shape : ellipse }
      edge: { sourcename: "work" targetname: "__divdi3" label: "kernels/work.c:3:5" }
      }
      """;

  private static final String TEAM =
      """
      graph: { title: "team.c"
      node: { title: "serve" label: "serve\\nports/team.c:2:6\\n48 bytes (static)" }
      node: { title: "__indirect_call" label: "Indirect Call Placeholder" shape : ellipse }
      edge: { sourcename: "serve" targetname: "__indirect_call" label: "ports/team.c:3:5" }
      }
      """;

  @TempDir private Path folder;

  private record Result(int status, String output) {}

  @BeforeEach
  void writeGraphs() throws IOException {
    write("main.ci", MAIN);
    write("work.ci", WORK);
    write("team.ci", TEAM);
  }

  @Test
  void addsFramesOfTheDeepestCallChain() throws Exception {
    // The frames of deep and work, and 64 bytes for libgcc's division; wide calls nothing.
    assertThat(depth("begin=212 serve=144"))
        .isEqualTo(
            new Result(
                0,
                """
                begin: 212 of 212 bytes: begin > main.c:deep > work > __divdi3
                serve: 144 of 144 bytes: serve > __indirect_call > work > __divdi3
                """));
  }

  @Test
  void refusesSmallStacks() throws Exception {
    Result result = depth("begin=211 serve=144");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.output()).contains("stacks: begin: 212 of 211 bytes: begin > main.c:deep");
  }

  @Test
  void refusesRecursion() throws Exception {
    write("work.ci", WORK.replace("targetname: \"__divdi3\"", "targetname: \"main.c:deep\""));
    Result result = depth("begin=4096");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.output()).contains("stacks: main.c:deep calls itself, or what it calls does");
  }

  @Test
  void refusesFramesOfVariableSize() throws Exception {
    write("work.ci", WORK.replace("(static)", "(dynamic)"));
    Result result = depth("begin=4096");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.output()).contains("stacks: work has a frame without a fixed size");
  }

  @Test
  void refusesUnknownFunctions() throws Exception {
    Files.delete(folder.resolve("work.ci"));
    Result result = depth("begin=4096");
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.output()).contains("stacks: no call graph has work");
  }

  private void write(String name, String graph) throws IOException {
    Files.writeString(folder.resolve(name), graph);
  }

  private Result depth(String entries) throws IOException, InterruptedException {
    List<String> command =
        List.of(
            "sh",
            "-c",
            "exec awk -v entries=\"$1\" -f \"$2\" *.ci",
            "sh",
            entries,
            CCompiler.MODULE.resolve("ports/stacks.awk").toString());
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), output);
  }
}
