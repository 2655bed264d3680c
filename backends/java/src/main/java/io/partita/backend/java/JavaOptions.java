package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import javax.lang.model.SourceVersion;

/**
 * The name of the emitted class.
 *
 * @param packageName its package; empty for the unnamed one
 * @param className its simple name
 */
public record JavaOptions(String packageName, String className) {
  /**
   * @throws PartitaException P5008 if a name isn't valid in Java, or is one of {@code java.lang}
   */
  public JavaOptions {
    boolean named = packageName.isEmpty() || SourceVersion.isName(packageName);
    if (!named || !SourceVersion.isName(className) || className.contains(".")) {
      throw new PartitaException(
          BackendCode.CLASS_NAME,
          "options --package and --class",
          "a package name and a simple class name",
          "\"" + packageName + "\" and \"" + className + "\"",
          "choose names that Java allows, such as --package com.example --class Model");
    }
    // Other packages are imported, and their classes qualified where they have the name of this
    // one.
    if (isClass("java.lang." + className)) {
      throw new PartitaException(
          BackendCode.CLASS_NAME,
          "option --class",
          "a name that no class of java.lang has, since emitted code uses those by their simple names",
          "java.lang." + className,
          "choose another name, such as --class Model");
    }
  }

  private static boolean isClass(String name) {
    try {
      Class.forName(name, false, ClassLoader.getPlatformClassLoader());
      return true;
    } catch (ClassNotFoundException free) {
      return false;
    }
  }

  /** {@code a.b.Name}. */
  public String qualifiedName() {
    return packageName.isEmpty() ? className : packageName + "." + className;
  }

  /** {@code a/b/Name.java}. */
  public String sourcePath() {
    return qualifiedName().replace('.', '/') + ".java";
  }

  /** The name of the weights file. */
  public String weightsFile() {
    return className + ".weights";
  }
}
