package io.partita.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoFailureException;

/** Finds a JDK for the compiler, in the same places as the launcher {@code partita}. */
final class JdkSearch {
  /** The oldest supported version. */
  static final int OLDEST = 25;

  private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)");
  private static final List<String> FOLDERS =
      List.of(
          "/usr/lib/jvm",
          "/usr/lib64/jvm",
          "/usr/java",
          "/opt",
          "/opt/java",
          "/usr/local/lib/jvm",
          "~/.sdkman/candidates/java",
          "~/.jdks",
          "/Library/Java/JavaVirtualMachines",
          "~/Library/Java/JavaVirtualMachines");

  private final Properties properties;
  private final Map<String, String> environment;

  /**
   * @param properties the JVM's properties, which name its home and the user's
   * @param environment the process's environment, with JAVA_HOME and PATH
   */
  JdkSearch(Properties properties, Map<String, String> environment) {
    this.properties = properties;
    this.environment = environment;
  }

  /**
   * Returns the folder that the user named.
   *
   * @throws MojoFailureException if it has no sufficiently new JDK
   */
  Path require(Path home) throws MojoFailureException {
    OptionalInt version = version(home);
    if (version.isEmpty() || version.getAsInt() < OLDEST) {
      throw new MojoFailureException(
          "parameter <jdkHome>: "
              + home
              + (version.isEmpty() ? " holds no JDK" : " holds JDK " + version.getAsInt())
              + "; the compiler needs JDK "
              + OLDEST
              + " or newer");
    }
    return home;
  }

  /**
   * Returns the first sufficiently new JDK: of the given ones, Maven's own, JAVA_HOME, the PATH,
   * and the usual folders.
   *
   * @throws MojoFailureException if there is none
   */
  Path find(List<Path> first) throws MojoFailureException {
    List<Path> candidates = new ArrayList<>(first);
    addPath(candidates, properties.getProperty("java.home"));
    addPath(candidates, environment.get("JAVA_HOME"));
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
      addJava(candidates, folder);
    }
    for (String folder : FOLDERS) {
      addAll(candidates, folder.replaceFirst("^~", properties.getProperty("user.home", "~")));
    }
    for (Path candidate : candidates) {
      if (version(candidate).orElse(0) >= OLDEST) {
        return candidate;
      }
    }
    throw new MojoFailureException(
        "the compiler runs on JDK "
            + OLDEST
            + " or newer, and none was found. Install one (for example from https://adoptium.net);"
            + " if it is in an unusual place, list it in ~/.m2/toolchains.xml as a toolchain of type"
            + " jdk, or give its folder as parameter <jdkHome> (-Dpartita.jdkHome=...)");
  }

  private static void addPath(List<Path> candidates, String home) {
    if (home != null && !home.isBlank()) {
      try {
        candidates.add(Path.of(home));
      } catch (InvalidPathException notAPath) {
        // Then it holds no JDK.
      }
    }
  }

  /** The JDK whose {@code java} is in a folder of the PATH, after resolving symbolic links. */
  private static void addJava(List<Path> candidates, String folder) {
    try {
      if (!folder.isBlank() && Files.isExecutable(Path.of(folder, "java"))) {
        Path bin = Path.of(folder, "java").toRealPath().getParent();
        candidates.add(bin.getParent());
      }
    } catch (IOException | InvalidPathException unreadable) {
      // Then it can't be run either.
    }
  }

  private static void addAll(List<Path> candidates, String folder) {
    if (!Files.isDirectory(Path.of(folder))) {
      return;
    }
    try (Stream<Path> entries = Files.list(Path.of(folder))) {
      for (Path entry : entries.sorted().toList()) {
        candidates.add(entry);
        // On macOS.
        candidates.add(entry.resolve("Contents").resolve("Home"));
      }
    } catch (IOException unreadable) {
      // Other folders may be readable.
    }
  }

  /** The feature version of the JDK in a folder; empty if there is no JDK. */
  static OptionalInt version(Path home) {
    Path javac = home.resolve("bin").resolve(isWindows() ? "javac.exe" : "javac");
    try {
      Matcher version = VERSION.matcher(Files.readString(home.resolve("release")));
      return Files.isExecutable(javac) && version.find()
          ? OptionalInt.of(Integer.parseInt(version.group(1)))
          : OptionalInt.empty();
    } catch (IOException | NumberFormatException notAJdk) {
      return OptionalInt.empty();
    }
  }

  static boolean isWindows() {
    return File.separatorChar == '\\';
  }
}
