package io.partita.backend.emitted.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class BuildLockTest {
  @TempDir Path folder;

  /** Tests that concurrent first builds don't write the same objects. */
  @Test
  void buildsOfAFolderAreSequential() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Callable<Void> build =
        () -> {
          try (BuildLock lock = BuildLock.of(folder)) {
            assertThat(lock).isNotNull();
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            Thread.sleep(20);
            inside.decrementAndGet();
          }
          return null;
        };
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<Void>> builds = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        builds.add(threads.submit(build));
      }
      for (Future<Void> each : builds) {
        each.get();
      }
    }
    assertThat(most).hasValue(1);
  }

  /** A folder that can't be written is no mistake of the program, which needn't be reported. */
  @Test
  void foldersThatCannotBeWrittenAreNamed() throws IOException {
    Files.writeString(folder.resolve("build"), "in the way of the folder");
    assertThatThrownBy(() -> BuildLock.of(folder))
        .hasMessageContaining("P5002")
        .hasMessageContaining(folder.toString())
        .hasMessageContaining(
            "copy it to where you may write: programs are built in their own folder");
  }
}
