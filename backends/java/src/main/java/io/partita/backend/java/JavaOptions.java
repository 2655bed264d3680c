package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import java.util.List;
import javax.lang.model.SourceVersion;

/**
 * The name of the emitted class.
 *
 * @param packageName its package; empty for the unnamed one
 * @param className its simple name
 */
public record JavaOptions(String packageName, String className) {
  /** Packages from which emitted code imports classes. */
  private static final List<String> USED_PACKAGES =
      List.of(
          "java.lang",
          "java.lang.reflect",
          "java.io",
          "java.net",
          "java.nio",
          "java.nio.channels",
          "java.nio.charset",
          "java.nio.file",
          "java.security",
          "java.security.cert",
          "java.util",
          "java.util.concurrent",
          "java.util.concurrent.atomic",
          "java.util.concurrent.locks",
          "java.util.zip",
          "javax.net.ssl");

  /**
   * @throws PartitaException P5008 if a name isn't valid in Java, or is one that emitted code uses
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
    for (String used : USED_PACKAGES) {
      if (isClass(used + "." + className)) {
        throw new PartitaException(
            BackendCode.CLASS_NAME,
            "option --class",
            "a name that hides no class which emitted code uses",
            "the name of " + used + "." + className,
            "choose another name, such as --class Model");
      }
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
