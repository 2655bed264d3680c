package io.partita.backend.java.code;

import com.palantir.javapoet.MethodSpec;
import javax.lang.model.element.Modifier;

/** Prints a kernel as a private method. */
final class KernelPrinter {
  private KernelPrinter() {}

  static MethodSpec print(Kernels.Used used) {
    String header = used.variant().print(used.kernel().header());
    int open = header.indexOf('(');
    String[] words = header.substring(0, open).split(" ");
    MethodSpec.Builder method =
        MethodSpec.methodBuilder(words[words.length - 1])
            .addModifiers(Modifier.PRIVATE)
            .addJavadoc("$L\n", Comments.javadoc(used.kernel().documentation()))
            .returns(Types.of(words[words.length - 2]));
    if (words[0].equals("static")) {
      method.addModifiers(Modifier.STATIC);
    }
    String parameters = header.substring(open + 1, header.lastIndexOf(')'));
    for (String parameter : parameters.split(", ")) {
      int space = parameter.lastIndexOf(' ');
      String type = parameter.substring(0, space).replace("...", "[]");
      method.addParameter(Types.of(type), parameter.substring(space + 1));
    }
    if (parameters.contains("...")) {
      method.varargs();
    }
    return method
        .addCode(new Body().text(used.variant().print(used.kernel().body())).build())
        .build();
  }
}
