package io.partita.backend.emitted.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The Python that runs GVSoC. Missing packages are found by importing them. */
public final class GvsocPython {
  /** The option of GVSoC's board that names the Python. */
  public static final String OPTION = "--python";

  /** The default without {@link #OPTION}. */
  public static final String USUAL = "python3";

  private static final int SECONDS = 60;

  /**
   * Imports the modules of GVSoC that the board and GVSoC's own program import, from {@code
   * generators} and {@code bin}; missing ones are replaced, so that all are found. Without GVSoC,
   * imports the packages of its requirements.txt.
   */
  private static final String IMPORTS =
      """
      import importlib, importlib.machinery, sys, types
      from unittest import mock

      class Lacking(types.ModuleType):
          def __init__(self, name):
              super().__init__(name)
              self.__path__ = []
              self.__spec__ = importlib.machinery.ModuleSpec(name, None)
          def __getattr__(self, name):
              if name.startswith('__'):
                  raise AttributeError(name)
              return mock.MagicMock()

      packages = {'elftools': 'pyelftools', 'yaml': 'PyYAML', 'mako': 'Mako', 'bs4': 'beautifulsoup4', 'vcd': 'pyvcd'}
      names = ['elftools', 'six', 'tabulate']
      own = ('gapylib', 'gvsoc', 'pulp', 'vp', 'gv', 'regmap')
      if len(sys.argv) > 1:
          sys.path[0:0] = [sys.argv[1] + '/' + folder for folder in ('generators', 'python', 'bin')]
          names = ['gapylib.target', 'gvsoc.runner', 'gvsoc.systree', 'pulp.chips.siracusa.pulp_open', 'vp.clock_domain']
      missing = []
      for name in names:
          for attempt in range(100):
              try:
                  importlib.import_module(name)
              except ModuleNotFoundError as error:
                  top = (error.name or '').split('.')[0]
                  if not top or top in own:
                      break
                  if top not in missing:
                      missing.append(top)
                  sys.modules[error.name] = Lacking(error.name)
                  continue
              except Exception:
                  break
              break
      print('partita:', *[packages.get(top, top) for top in missing])
      """;

  private GvsocPython() {}

  /** Finds a program by its path, or by its name on the PATH. */
  public static Optional<Path> find(String python) {
    return python.contains("/") ? Optional.of(Path.of(python)) : Build.find(python);
  }

  /**
   * Returns the packages that a Python lacks.
   *
   * @param gvsoc the installation of GVSoC, if known
   * @throws IOException if it doesn't start, or is no Python
   */
  public static List<String> missing(Path python, Optional<Path> gvsoc) throws IOException {
    List<String> command = new ArrayList<>(List.of(python.toString(), "-c", IMPORTS));
    gvsoc.ifPresent(root -> command.add(root.toAbsolutePath().toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(python + " doesn't end");
      }
      return said.lines()
          .filter(line -> line.startsWith("partita:"))
          .findFirst()
          .map(line -> List.of(line.split(" ")).subList(1, line.split(" ").length))
          .orElseThrow(() -> new IOException(python + " is no Python 3: " + said.strip()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** The command that installs packages. */
  public static String remedy(Path python, List<String> packages) {
    return python + " -m pip install " + String.join(" ", packages);
  }
}
