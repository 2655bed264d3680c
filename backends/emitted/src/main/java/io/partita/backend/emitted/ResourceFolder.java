package io.partita.backend.emitted;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The text files of a folder of resources, such as the sources that a backend puts beside its code.
 */
public final class ResourceFolder {
  private ResourceFolder() {}

  /**
   * Returns the texts below a folder of resources, by path.
   *
   * @param known a resource in the folder, which locates it
   */
  public static SortedMap<String, String> read(String folder, String known) {
    return read(ResourceFolder.class.getResource(folder + known), folder, known);
  }

  /**
   * Returns the texts below the folder of a resource.
   *
   * @param found the known resource, in a folder or in a jar
   */
  public static SortedMap<String, String> read(URL found, String folder, String known) {
    try {
      URI uri = found.toURI();
      if (!uri.getScheme().equals("jar")) {
        Path root = Path.of(uri);
        for (int i = Path.of(known).getNameCount(); i > 0; i--) {
          root = root.getParent();
        }
        return read(root);
      }
      Path jar = Path.of(URI.create(uri.getRawSchemeSpecificPart().split("!")[0]));
      try (FileSystem files = FileSystems.newFileSystem(jar)) {
        return read(files.getPath(folder));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException("sources are not packaged: " + found, e);
    }
  }

  private static SortedMap<String, String> read(Path root) throws IOException {
    SortedMap<String, String> texts = new TreeMap<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).filter(ResourceFolder::isText).toList()) {
        texts.put(root.relativize(file).toString(), Files.readString(file));
      }
    }
    return texts;
  }

  /** Excludes the compiled files that Python leaves beside its sources. */
  private static boolean isText(Path file) {
    return !file.toString().endsWith(".pyc");
  }
}
