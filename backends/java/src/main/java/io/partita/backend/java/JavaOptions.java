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
   * @throws PartitaException P5008 if a name isn't valid in Java
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
