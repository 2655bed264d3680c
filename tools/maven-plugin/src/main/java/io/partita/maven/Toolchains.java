package io.partita.maven;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.toolchain.Toolchain;
import org.apache.maven.toolchain.ToolchainManager;

/** The JDKs that Maven knows. */
final class Toolchains {
  private static final String TYPE = "jdk";

  private Toolchains() {}

  /** The one that the build chose, then those of {@code ~/.m2/toolchains.xml}. */
  static List<Path> homes(ToolchainManager manager, MavenSession session) {
    Stream<Toolchain> chosen =
        Stream.ofNullable(manager.getToolchainFromBuildContext(TYPE, session));
    String versions = "[" + JdkSearch.OLDEST + ",)";
    Stream<Toolchain> listed =
        manager.getToolchains(session, TYPE, Map.of("version", versions)).stream();
    return Stream.concat(chosen, listed)
        .map(toolchain -> toolchain.findTool("java"))
        .filter(Objects::nonNull)
        .map(java -> Path.of(java).getParent().getParent())
        .toList();
  }
}
