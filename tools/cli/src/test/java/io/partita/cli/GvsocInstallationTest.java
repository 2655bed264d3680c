package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.GvsocHeaders;
import io.partita.backend.emitted.run.GvsocPython;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that what GVSoC lacks is detected before the build. */
class GvsocInstallationTest {
  @TempDir Path scratch;

  /** Creates GVSoC's Python folder with the imports of a test. */
  private Path gvsoc(String imports) throws IOException {
    Path root = scratch.resolve("gvsoc");
    Path program = Files.createDirectories(root.resolve("bin")).resolve("gvsoc");
    Files.writeString(program, "#!/usr/bin/env python3\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    for (String module :
        new String[] {
          "bin/gapylib/target",
          "generators/gvsoc/__init__",
          "generators/gvsoc/runner",
          "generators/gvsoc/systree",
          "generators/pulp/chips/siracusa/pulp_open",
          "generators/vp/clock_domain"
        }) {
      Path file = root.resolve(module + ".py");
      Files.createDirectories(file.getParent());
      Files.writeString(file, module.endsWith("runner") ? imports : "");
    }
    return root;
  }

  @Test
  void theDiagnosticNamesPackagesAndInterpreter() throws IOException {
    assumeThat(Build.find("python3")).isPresent();
    Path python = Build.find("python3").orElseThrow();
    Path root =
        gvsoc("import json\nimport no_such_one.deep.name\nfrom no_such_two.part import anything\n");
    assertThat(GvsocPython.missing(python, Optional.of(root)))
        .containsExactly("no_such_one", "no_such_two");
    Path folder = SmallChipProgram.compiled(scratch, 1);
    Path inputs = SmallChipProgram.inputs(scratch);
    Object[] run = {
      "run",
      folder,
      "--inputs",
      inputs,
      "-o",
      scratch.resolve("out.npz"),
      "--on=gvsoc",
      "--gvsoc",
      root,
      "--python",
      python
    };
    Invocation refused = Invocation.of(run);
    assertThat(refused.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(refused.err())
        .contains("error P5102", python + " lacks no_such_one, no_such_two")
        .contains(python + " -m pip install no_such_one no_such_two", "--python PROGRAM");
    assertThat(folder.resolve("build")).doesNotExist();
    run[run.length - 1] = "no-such-python";
    assertThat(Invocation.of(run).err()).contains("error P5102", "no such program on the path");
    assertThat(Invocation.of("doctor", "--gvsoc", root).out())
        .contains("lacks no_such_one, no_such_two");
  }

  @Test
  void completePythonsAreAccepted() throws IOException {
    assumeThat(Build.find("python3")).isPresent();
    assertThat(
            GvsocPython.missing(
                Build.find("python3").orElseThrow(), Optional.of(gvsoc("import json\n"))))
        .isEmpty();
  }

  @Test
  void missingHeadersAreDiagnosed() throws IOException {
    assumeThat(Build.find("python3")).isPresent();
    Path root = gvsoc("import json\n");
    Path folder = SmallChipProgram.compiled(scratch, 1);
    Object[] run = {
      "run",
      folder,
      "--inputs",
      SmallChipProgram.inputs(scratch),
      "-o",
      scratch.resolve("out.npz"),
      "--on=gvsoc",
      "--gvsoc",
      root,
      "--gvsoc-headers",
      folder
    };
    Invocation named = Invocation.of(run);
    assertThat(named.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(named.err()).contains("error P5102", "--gvsoc-headers " + folder, "vp/vp.hpp");
    Invocation searched = Invocation.of(Arrays.copyOf(run, run.length - 2));
    assertThat(searched.err())
        .contains("error P5102", "--gvsoc " + root, "--gvsoc-headers PATH", "core/engine/include");
    assertThat(folder.resolve("build")).doesNotExist();
    assertThat(Invocation.of("doctor", "--gvsoc", root).out()).contains("--gvsoc-headers PATH");
  }

  @Test
  void headersAreFoundInTheInstallationOrItsSources() throws IOException {
    Path root = gvsoc("");
    assertThat(GvsocHeaders.find(root, Optional.empty())).isEmpty();
    Path sources = headers(scratch.resolve("core/engine/include"));
    assertThat(GvsocHeaders.find(root, Optional.empty())).contains(sources);
    Path installed = headers(root.resolve("include"));
    assertThat(GvsocHeaders.find(root, Optional.empty())).contains(installed);
    assertThat(GvsocHeaders.find(root, Optional.of(sources))).contains(sources);
  }

  private static Path headers(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("vp"));
    Files.createFile(folder.resolve("vp/vp.hpp"));
    return folder.toAbsolutePath();
  }
}
