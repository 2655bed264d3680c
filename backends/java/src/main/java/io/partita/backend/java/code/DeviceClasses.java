package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import io.partita.backend.java.JavaOptions;

/**
 * The names of the classes of a program for several devices: the name of the class that users call,
 * with a suffix.
 */
public record DeviceClasses(JavaOptions options) {
  ClassName called() {
    return ClassName.get(options.packageName(), options.className());
  }

  ClassName with(String ending) {
    return ClassName.get(options.packageName(), options.className() + ending);
  }

  ClassName channels() {
    return with("Channels");
  }

  ClassName role(int role) {
    return with("Role" + role);
  }

  /** The options of a role's class. */
  public JavaOptions roleOptions(int role) {
    return new JavaOptions(options.packageName(), role(role).simpleName());
  }

  /** {@code Model.device3.weights}. */
  public String weightsFile(int device) {
    return options.className() + ".device" + device + ".weights";
  }
}
