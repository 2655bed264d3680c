package io.partita.backend.java;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.code.CallerPrinter;
import io.partita.backend.java.code.ClassPrinter;
import io.partita.backend.java.code.DeviceClasses;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.backend.java.plan.WeightsPlan;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.passes.graph.anatomy.InputRanges;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Turns a module of the graph dialect into one readable Java class and a file of weights, and a
 * program for several devices into a class for each role and a file of weights for each device.
 *
 * @param options the names of the class and its package
 */
public record JavaBackend(JavaOptions options) implements Backend {
  /** The most elements of a Java array, less a few. */
  private static final long MAX_ELEMENTS = Integer.MAX_VALUE - 8;

  @Override
  public String language() {
    return "Java";
  }

  /**
   * Returns the program, without writing it. A program without a mesh becomes a single class.
   *
   * @throws PartitaException P5001 if a shape isn't static, P5009 if a tensor doesn't fit an array,
   *     P5016 if an input or output isn't whole on the devices together
   */
  @Override
  public EmittedJava emit(Program program, Optional<Program> chunk) {
    return program.mesh().axes().isEmpty()
        ? emit(alone(program), chunk.map(JavaBackend::alone), options)
        : emit(program, chunk, options);
  }

  private static Module alone(Program program) {
    return program.devices().getFirst();
  }

  @Override
  public boolean isProgram(Path folder) {
    return JavaDescription.isIn(folder);
  }

  /**
   * Returns the program, without writing it.
   *
   * @throws PartitaException P5001 if a shape isn't static, P5009 if a tensor doesn't fit an array
   */
  public static EmittedJava emit(Module module, JavaOptions options) {
    return emit(module, Optional.empty(), options);
  }

  /**
   * Returns the program with a second entry point.
   *
   * @param chunk the same decoder for several tokens at once, with the same states; shared weights
   *     are the same tensors
   */
  public static EmittedJava emit(Module module, Optional<Module> chunk, JavaOptions options) {
    verify(module);
    chunk.ifPresent(JavaBackend::verify);
    ModulePlan plan = ModulePlan.of(InputRanges.record(module), chunk.map(InputRanges::record));
    String source = ClassPrinter.print(plan, options);
    JavaDescription description =
        new JavaDescription(
            ProgramInterface.of(module, chunk),
            options.qualifiedName(),
            options.weightsFile(),
            Optional.empty());
    return new EmittedJava(
        description,
        List.of(
            EmittedFile.text(options.sourcePath(), source),
            new EmittedFile(options.weightsFile(), plan.weights()::writeTo),
            EmittedFile.text(ProgramDescription.FILE, description.json())));
  }

  /**
   * Returns the program for all devices, without writing it.
   *
   * @throws PartitaException P5001 and P5009 as above, P5016 when an input or output isn't whole on
   *     the devices together
   */
  public static EmittedJava emit(Program program, JavaOptions options) {
    return emit(program, Optional.empty(), options);
  }

  /**
   * Returns the program with a second entry point.
   *
   * @param chunk the same decoder on the same devices for several tokens at once, with the same
   *     states on each; shared weights are the same tensors
   */
  public static EmittedJava emit(Program program, Optional<Program> chunk, JavaOptions options) {
    for (Program each : chunk.map(own -> List.of(program, own)).orElse(List.of(program))) {
      each.devices().forEach(JavaBackend::verify);
      verifyComplete(each);
    }
    ProgramPlan plan = ProgramPlan.of(program, chunk);
    DeviceClasses classes = new DeviceClasses(options);
    List<EmittedFile> roles = new ArrayList<>();
    for (int role = 0; role < plan.roles().size(); role++) {
      String source = ClassPrinter.printRole(plan, role, classes);
      roles.add(EmittedFile.text(classes.roleOptions(role).sourcePath(), source));
    }
    List<EmittedFile> weights = new ArrayList<>();
    for (int device = 0; device < plan.devices(); device++) {
      WeightsPlan own = plan.roles().get(plan.role(device)).weights(device);
      weights.add(new EmittedFile(classes.weightsFile(device), own::writeTo));
    }
    String fingerprint = Fingerprint.of(plan, roles);
    JavaDescription description =
        DeviceDescriptions.of(plan, ProgramInterface.of(program, chunk), classes, fingerprint);
    String caller = CallerPrinter.print(plan, classes, fingerprint);
    List<EmittedFile> files = new ArrayList<>();
    files.add(EmittedFile.text(options.sourcePath(), caller));
    files.addAll(roles);
    files.addAll(RuntimeSources.of(options));
    files.addAll(weights);
    files.add(EmittedFile.text(ProgramDescription.FILE, description.json()));
    return new EmittedJava(description, files);
  }

  private static void verifyComplete(Program program) {
    Map<String, ShardedType> ports = new TreeMap<>();
    program.inputs().forEach((name, type) -> ports.put("input \"" + name + "\"", type));
    program.outputs().forEach((name, type) -> ports.put("output \"" + name + "\"", type));
    ports.forEach(
        (where, type) -> {
          if (!type.layout().partial().isEmpty() || !type.layout().varying().isEmpty()) {
            throw new PartitaException(
                BackendCode.PARTIAL_PORT,
                where,
                "a value that is whole or split on the devices",
                type.toString(),
                "add a sync that reduces it");
          }
        });
  }

  private static void verify(Module module) {
    for (Value input : module.graph().inputs()) {
      verify(input, "input \"" + input.name() + "\"");
    }
    for (Node node : module.graph().nodes()) {
      for (Value result : node.results()) {
        verify(result, "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")");
      }
      if (node.op() instanceof Communication.Exchange exchange) {
        exchange.steps().forEach(step -> verify(node, step));
      }
    }
  }

  private static void verify(Node node, Step step) {
    if (step.bytes() > MAX_ELEMENTS) {
      throw new PartitaException(
          BackendCode.TOO_LARGE,
          "node \"" + node.name() + "\" (" + step + ")",
          "messages of at most " + MAX_ELEMENTS + " bytes",
          step.bytes() + " bytes",
          "compile for smaller dimensions");
    }
  }

  private static void verify(Value value, String where) {
    if (!value.type().isStatic()) {
      throw new PartitaException(
          BackendCode.SYMBOLIC_SHAPE,
          where,
          "extents that are numbers",
          value.type().toString(),
          "bind the model's symbols, such as --dim seq=128");
    }
    long elements;
    try {
      elements = value.type().shape().elements();
    } catch (ArithmeticException overflow) {
      elements = Long.MAX_VALUE;
    }
    if (elements > MAX_ELEMENTS) {
      throw new PartitaException(
          BackendCode.TOO_LARGE,
          where,
          "at most " + MAX_ELEMENTS + " elements",
          value.type().toString(),
          "compile for smaller dimensions");
    }
  }
}
