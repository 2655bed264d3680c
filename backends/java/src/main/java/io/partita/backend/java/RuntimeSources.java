package io.partita.backend.java;

import io.partita.ir.file.EmittedFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The sources of {@code io.partita.backend.java.runtime}, as emitted into a program. */
final class RuntimeSources {
  /** The classes' names, without the prefix that they get in a program. */
  static final List<String> CLASSES =
      List.of(
          "Boxes",
          "Channels",
          "Credentials",
          "DeviceMain",
          "DeviceProcesses",
          "DeviceThreads",
          "Frames",
          "SocketChannels");

  private RuntimeSources() {}

  /** The files, in the package of the program's class and with its prefix. */
  static List<EmittedFile> of(JavaOptions options) {
    String pattern = "(?<![\\w\"])(" + String.join("|", CLASSES) + ")\\b";
    List<EmittedFile> files = new ArrayList<>();
    for (String name : CLASSES) {
      String text =
          source(name)
              .replaceFirst(
                  "package [\\w.]+;\n\n",
                  options.packageName().isEmpty()
                      ? ""
                      : "package " + options.packageName() + ";\n\n")
              .replaceAll(pattern, options.className() + "$1");
      JavaOptions own = new JavaOptions(options.packageName(), options.className() + name);
      files.add(EmittedFile.text(own.sourcePath(), text));
    }
    return files;
  }

  private static String source(String name) {
    try (InputStream in = RuntimeSources.class.getResourceAsStream("runtime/" + name + ".java")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
