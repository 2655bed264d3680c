import java.nio.file.Files
import java.nio.file.Path

// A local repository as the others, without the compiler.
String without = 'io/partita/partita-cli'

void link(Path from, Path to, String relative, String without) {
  if (relative == without) {
    return
  }
  if (!without.startsWith(relative)) {
    Files.createSymbolicLink(to, from)
    return
  }
  Files.createDirectories(to)
  from.toFile().list().each { name ->
    link(from.resolve(name), to.resolve(name), relative.isEmpty() ? name : relative + '/' + name, without)
  }
}

link(localRepositoryPath.toPath(), new File(basedir, 'repository').toPath(), '', without)
return true
