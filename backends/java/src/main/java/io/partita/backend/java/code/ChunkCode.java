package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Signature;
import java.util.List;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/**
 * The steps for several tokens at once, as a class nested in that for one token: it has its own
 * buffers, and uses the states, weights and kernels of the enclosing object.
 */
final class ChunkCode {
  private final ModulePlan plan;
  private final Kernels kernels;
  private final String around;
  private final SignatureCode signature;
  private final CallCode calls;
  private final StepMethods steps;

  ChunkCode(ModulePlan plan, JavaOptions options, Kernels kernels, Scratch scratch) {
    this.plan = plan;
    this.kernels = kernels;
    this.around = options.className();
    this.steps = StepMethods.of(plan, new StepPrinter(plan, kernels, scratch));
    ClassName self = ClassName.get(options.packageName(), options.className());
    this.signature = new SignatureCode(plan.signature(), self);
    this.calls = CallCode.inside(around, plan, signature, steps.calls());
  }

  /** A name other than that of the enclosing class. */
  private String name() {
    return around.equals("Chunk") ? "ChunkSteps" : "Chunk";
  }

  /** Reads the constants with kernels, so it must be called before the kernels are printed. */
  TypeSpec type() {
    List<MethodSpec> reads = WeightCode.constantReads(plan, kernels);
    TypeSpec.Builder type =
        TypeSpec.classBuilder(name())
            .addModifiers(Modifier.PRIVATE, Modifier.FINAL)
            .addJavadoc(
                "The steps for several tokens at once, on the same states and weights.\n\n<ul>\n$L"
                    + "</ul>\n",
                ClassComment.ports(plan));
    signature.constants().forEach(type::addField);
    ClassPrinter.arrays(plan).forEach(type::addField);
    calls.portFields().forEach(type::addField);
    Body body = new Body();
    reads.forEach(method -> body.line(method.name() + "()"));
    type.addMethod(MethodSpec.constructorBuilder().addCode(body.build()).build());
    reads.forEach(type::addMethod);
    Body run = new Body();
    type.addMethod(calls.run(signature.run("run", run), run));
    steps.methods().forEach(type::addMethod);
    return type.build();
  }

  /** The instance of the class, which is made after the weights are opened. */
  FieldSpec field() {
    return FieldSpec.builder(ClassName.get("", name()), "chunk", Modifier.PRIVATE, Modifier.FINAL)
        .build();
  }

  String construction() {
    return "chunk = new " + name() + "()";
  }

  /** The entry points for callers. */
  MethodSpec call() {
    String arguments =
        plan.signature().parameters().stream()
            .map(Signature.Parameter::identifier)
            .collect(Collectors.joining(", "));
    Body body = new Body();
    body.line((plan.results().isEmpty() ? "" : "return ") + "chunk.run(" + arguments + ")");
    return signature.declared("chunk").addCode(body.build()).build();
  }
}
