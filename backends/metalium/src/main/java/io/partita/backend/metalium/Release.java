package io.partita.backend.metalium;

import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The names of the kernel API in a release. Templates use these where releases differ.
 *
 * @param version such as {@code 0.81.1}
 * @param names the spelling of each name
 */
record Release(String version, Map<String, String> names) {
  /** The release that emitted code is for. */
  static final Release PINNED = read("0.81.1");

  /** All that have a table, newest first. */
  private static final List<Release> ALL = List.of(PINNED, read("0.77.0"));

  /**
   * Returns a release.
   *
   * @throws PartitaException P5205 if there is no table of its names
   */
  static Release of(String version) {
    List<String> versions = ALL.stream().map(Release::version).toList();
    return ALL.stream()
        .filter(release -> release.version.equals(version))
        .findFirst()
        .orElseThrow(
            () ->
                new PartitaException(
                    MetaliumCode.RELEASE,
                    "--set release=" + version,
                    "one of " + String.join(", ", versions),
                    version,
                    "write --set release=" + versions.getFirst() + ", or leave it out"));
  }

  private static Release read(String version) {
    Properties properties = new Properties();
    try (InputStream in =
        Release.class.getResourceAsStream("releases/" + version + ".properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, String> names = new TreeMap<>();
    properties.stringPropertyNames().forEach(name -> names.put(name, properties.getProperty(name)));
    return new Release(version, names);
  }
}
