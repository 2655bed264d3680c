package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a program for the emulated chip is built, whatever it computes. */
@Timeout(60)
class EmulatedProgramTest {
  @TempDir Path folder;

  @BeforeEach
  void assumeTools() {
    assumeThat(Build.find("make").isPresent() && Build.find("g++").isPresent()).isTrue();
  }

  private void makefile(String... commands) throws IOException {
    Files.writeString(
        folder.resolve("Makefile"), "emulation:\n\t@" + String.join("\n\t@", commands) + "\n");
  }

  /** Tests that one process doesn't run a program that another one is about to link. */
  @Test
  void buildsOfAFolderAreSequential() throws Exception {
    makefile("mkdir inside", "sleep 0.3", "rmdir inside", "echo built >> builds");
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<EmulatedProgram>> builds =
          threads.invokeAll(Collections.nCopies(3, () -> EmulatedProgram.build(folder, null)));
      for (Future<EmulatedProgram> build : builds) {
        assertThat(build.get().folder()).isEqualTo(folder);
      }
    }
    assertThat(folder.resolve("builds")).hasContent("built\nbuilt\nbuilt");
  }

  /** Tests what make says, such as warnings about clocks of network file systems. */
  @Test
  void messagesAreNoFailures() throws IOException {
    makefile("echo 'warning: Clock skew detected' >&2");
    assertThat(EmulatedProgram.build(folder, null).folder()).isEqualTo(folder);
    makefile("echo 'error: no' >&2; false");
    assertThatThrownBy(() -> EmulatedProgram.build(folder, null))
        .hasMessageContainingAll("P5103", "error: no");
  }
}
