package io.partita.backend.java;

import java.util.Map;

/** Defines the classes of one program; they are unloaded with the runner. */
final class ProgramLoader extends ClassLoader {
  private final Map<String, byte[]> classes;

  ProgramLoader(Map<String, byte[]> classes) {
    super(ProgramLoader.class.getClassLoader());
    this.classes = classes;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = classes.get(name);
    if (bytes == null) {
      throw new ClassNotFoundException(name);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }
}
