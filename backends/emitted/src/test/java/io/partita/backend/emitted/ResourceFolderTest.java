package io.partita.backend.emitted;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResourceFolderTest {
  @TempDir Path scratch;

  @Test
  void theFolderOfTheJarMayHaveASpace() throws IOException {
    Path jar = Files.createDirectories(scratch.resolve("my größe+%41")).resolve("runtime c.jar");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      for (String name : new String[] {"sources/hal/hal.h", "sources/main.c"}) {
        out.putNextEntry(new ZipEntry(name));
        out.write(name.getBytes(StandardCharsets.UTF_8));
      }
    }
    URI uri = URI.create("jar:" + jar.toUri() + "!/sources/hal/hal.h");
    assertThat(ResourceFolder.read(uri.toURL(), "/sources/", "hal/hal.h"))
        .containsOnlyKeys("hal/hal.h", "main.c");
  }
}
