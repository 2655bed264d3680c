package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JdkSearchTest {
  @TempDir Path scratch;

  private Path jdk(String name, int version) throws Exception {
    Path bin = Files.createDirectories(scratch.resolve(name).resolve("bin"));
    for (String program : List.of("java", "javac")) {
      assertThat(Files.writeString(bin.resolve(program), "").toFile().setExecutable(true)).isTrue();
    }
    Files.writeString(
        scratch.resolve(name).resolve("release"), "JAVA_VERSION=\"" + version + ".0.1\"\n");
    return scratch.resolve(name);
  }

  private JdkSearch search(Path maven, Map<String, String> environment) {
    Properties properties = new Properties();
    properties.setProperty("java.home", maven.toString());
    properties.setProperty("user.home", scratch.toString());
    return new JdkSearch(properties, environment);
  }

  @Test
  void toolchainsGoFirst() throws Exception {
    Path listed = jdk("listed", 26);
    JdkSearch search = search(jdk("maven", 25), Map.of());
    assertThat(search.find(List.of(jdk("old", 17), listed))).isEqualTo(listed);
  }

  @Test
  void thenMavensOwn() throws Exception {
    Path maven = jdk("maven", 25);
    Path home = jdk("home", 26);
    assertThat(search(maven, Map.of("JAVA_HOME", home.toString())).find(List.of()))
        .isEqualTo(maven);
  }

  @Test
  void thenJavaHome() throws Exception {
    Path home = jdk("home", 25);
    assertThat(search(jdk("maven", 17), Map.of("JAVA_HOME", home.toString())).find(List.of()))
        .isEqualTo(home);
  }

  @Test
  void thenThePath() throws Exception {
    Path onPath = jdk("on the path", 25);
    Path link = Files.createDirectory(scratch.resolve("links"));
    Files.createSymbolicLink(link.resolve("java"), onPath.resolve("bin").resolve("java"));
    assertThat(search(jdk("maven", 17), Map.of("PATH", link.toString())).find(List.of()))
        .isEqualTo(onPath.toRealPath());
  }

  @Test
  void givenFolderMustHaveANewJdk() throws Exception {
    JdkSearch search = search(jdk("maven", 25), Map.of());
    Path old = jdk("old", 17);
    assertThatThrownBy(() -> search.require(old))
        .isInstanceOf(MojoFailureException.class)
        .hasMessage(
            "parameter <jdkHome>: " + old + " holds JDK 17; the compiler needs JDK 25 or newer");
    assertThatThrownBy(() -> search.require(scratch)).hasMessageContaining(" holds no JDK;");
    assertThat(search.require(jdk("new", 27))).isEqualTo(scratch.resolve("new"));
  }
}
