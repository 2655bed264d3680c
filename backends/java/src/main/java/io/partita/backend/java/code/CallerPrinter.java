package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.backend.java.plan.ProgramPlan.Box;
import io.partita.backend.java.plan.ProgramPlan.Port;
import io.partita.backend.java.plan.Signature;
import io.partita.backend.java.plan.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;

/**
 * Prints the class that users call. It has the interface of a program for one device; it passes
 * each device its part of the inputs and assembles their outputs.
 */
public final class CallerPrinter {
  private static final TypeName PATH = Types.of("Path");
  private static final TypeName STRING = ClassName.get(String.class);

  private final ProgramPlan plan;
  private final DeviceClasses classes;
  private final SignatureCode signature;
  private final Optional<TokenStep> tokenStep;
  private final Optional<PromptCode> prompt;
  private final String fingerprint;

  private CallerPrinter(ProgramPlan plan, DeviceClasses classes, String fingerprint) {
    this.plan = plan;
    this.classes = classes;
    this.signature = new SignatureCode(plan.signature(), classes.called());
    this.tokenStep = TokenStep.of(plan.signature());
    this.prompt =
        plan.chunk()
            .flatMap(
                chunk -> PromptCode.of(plan.signature(), chunk.signature(), plan.stateTypes()));
    this.fingerprint = fingerprint;
  }

  /**
   * Returns the text of the source file.
   *
   * @param fingerprint identifies the program
   */
  public static String print(ProgramPlan plan, DeviceClasses classes, String fingerprint) {
    return new CallerPrinter(plan, classes, fingerprint).print();
  }

  private String print() {
    TypeSpec.Builder type =
        TypeSpec.classBuilder(classes.called())
            .addModifiers(Modifier.PUBLIC, Modifier.FINAL)
            .addSuperinterface(AutoCloseable.class)
            .addJavadoc(comment());
    addConstants(type);
    type.addField(
        FieldSpec.builder(devicesType(), "devices", Modifier.PRIVATE, Modifier.FINAL).build());
    if (tokenStep.flatMap(TokenStep::position).isPresent()) {
      type.addField(
          FieldSpec.builder(TypeName.LONG, "position", Modifier.PRIVATE)
              .addJavadoc("Tokens since the last reset.\n")
              .build());
    }
    opening().forEach(type::addMethod);
    Body body = new Body();
    type.addMethod(run(plan, "call", signature.run(body), body));
    plan.chunk().ifPresent(own -> type.addMethod(chunk(own)));
    if (plan.signature().decodes()) {
      type.addMethod(reset());
    }
    Optional<Signature> chunk = plan.chunk().map(ProgramPlan::signature);
    SignatureCode.check(plan.signature(), chunk).ifPresent(type::addMethod);
    SignatureCode.rangeChecks(plan.signature(), chunk).forEach(type::addMethod);
    tokenStep.ifPresent(step -> type.addMethod(step.method(signature.resultType())));
    prompt.ifPresent(code -> type.addMethod(code.method()));
    addJoined(type, plan);
    plan.chunk().ifPresent(own -> addJoined(type, own));
    type.addMethod(close());
    type.addMethod(device());
    signature.outputs().ifPresent(type::addType);
    return ClassPrinter.text(classes.options(), type.build());
  }

  private TypeName devicesType() {
    return classes.channels().nestedClass("Devices");
  }

  private CodeBlock comment() {
    String model = plan.program().name();
    CodeBlock.Builder text = CodeBlock.builder();
    text.add(
        "$L\n\n<ul>\n",
        Comments.javadoc(
            "The model "
                + (model.isEmpty() ? "without a name" : "\"" + model + "\"")
                + ", compiled by Partita for "
                + plan.devices()
                + " devices: "
                + plan.program().mesh()
                + "."));
    Stream.concat(
            plan.inputs().stream().map(port -> "input " + port.name() + ": " + port.type()),
            plan.outputs().stream().map(port -> "output " + port.name() + ": " + port.type()))
        .forEach(line -> text.add("  <li>$L\n", Comments.javadoc(line)));
    for (int role = 0; role < plan.roles().size(); role++) {
      ModulePlan of = plan.roles().get(role);
      text.add(
          "  <li>$L: {@link $T}, $L bytes of weights each\n",
          RoleCode.text(of.role().devices()),
          classes.role(role),
          of.weights().bytes());
    }
    text.add("</ul>\n\n");
    text.add(
        "<p>{@link #open} runs the devices as threads of this process; {@link #connect} makes this\n");
    text.add("process device 0, and {@link #main} makes it another one. Not thread-safe.\n");
    return text.build();
  }

  private static FieldSpec constant(TypeName type, String name, String comment, String value) {
    return FieldSpec.builder(type, name, Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
        .addJavadoc("$L\n", comment)
        .initializer("$L", value)
        .build();
  }

  private void addConstants(TypeSpec.Builder type) {
    type.addField(
        FieldSpec.builder(TypeName.INT, "DEVICES", Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
            .addJavadoc("The number of devices.\n")
            .initializer("$L", plan.devices())
            .build());
    signature.constants().forEach(type::addField);
    plan.chunk().ifPresent(chunk -> signature(chunk).constants().forEach(type::addField));
    prompt.ifPresent(code -> code.constants().forEach(type::addField));
    type.addField(
        constant(
            STRING,
            "PROGRAM",
            "The fingerprint that all devices must share.",
            "\"" + fingerprint + "\""));
    new TableCode(
            "NEIGHBOURS",
            "The devices with which each device exchanges messages.",
            IntStream.range(0, plan.devices())
                .mapToObj(device -> List.copyOf(plan.neighbours(device)))
                .toList())
        .addTo(type);
    addBoxes(type, plan);
    plan.chunk().ifPresent(chunk -> addBoxes(type, chunk));
  }

  private SignatureCode signature(ProgramPlan chunk) {
    return new SignatureCode(chunk.signature(), classes.called());
  }

  private static void addBoxes(TypeSpec.Builder type, ProgramPlan plan) {
    for (int i = 0; i < plan.inputs().size(); i++) {
      addBoxes(type, plan.inputs().get(i), plan.signature().parameters().get(i).field());
    }
    for (int i = 0; i < plan.outputs().size(); i++) {
      addBoxes(type, plan.outputs().get(i), plan.signature().results().get(i).field());
    }
  }

  /** Whether all devices take or return the whole. */
  private static boolean isEverywhere(Port port) {
    return port.isWhole() && !port.boxes().contains(null);
  }

  private static void addBoxes(TypeSpec.Builder type, Port port, String field) {
    if (isEverywhere(port)) {
      return;
    }
    String name = SignatureCode.constantName(field);
    type.addField(
        constant(
            Types.of("int[]"),
            name + "_SHAPE",
            Comments.javadoc(port.name() + ": " + port.type()),
            TableCode.braces(port.type().type().shape().dims())));
    new TableCode(
            name + "_BOXES",
            "The part of each device: the first index in each dimension, then the extents.",
            port.boxes().stream().map(CallerPrinter::numbers).toList())
        .addTo(type);
  }

  private static List<Long> numbers(Box box) {
    return box == null ? null : Stream.concat(box.from().stream(), box.size().stream()).toList();
  }

  private List<MethodSpec> opening() {
    ParameterSpec folder = ParameterSpec.builder(PATH, "folder").build();
    ParameterSpec peers = ParameterSpec.builder(STRING, "peers").build();
    String main = "new %s(PROGRAM, NEIGHBOURS, %s::device)";
    main = main.formatted(classes.with("DeviceMain").simpleName(), classes.called().simpleName());
    String self = "new " + classes.called().simpleName();
    return List.of(
        MethodSpec.constructorBuilder()
            .addModifiers(Modifier.PRIVATE)
            .addParameter(devicesType(), "devices")
            .addStatement("this.devices = devices")
            .build(),
        opened(
                "open",
                "Opens the program in a folder, with a thread of this process for each device.")
            .addParameter(folder)
            .addStatement(
                "return $L(new $T(DEVICES, 1, folder, $T::device))",
                self,
                classes.with("DeviceThreads"),
                classes.called())
            .build(),
        opened("connect", "Connects this process, as device 0, to those of all other devices.")
            .addJavadoc("\n@param peers host:port of each device, separated by commas\n")
            .addJavadoc("@param key the file of the devices' shared key\n")
            .addParameter(folder)
            .addParameter(peers)
            .addParameter(Types.of("Path"), "key")
            .addStatement("return $L($L.connect(folder, peers, key))", self, main)
            .build(),
        opened("connect", "Connects device 0, which already listens at its address.")
            .addParameter(folder)
            .addParameter(peers)
            .addParameter(Types.of("Path"), "key")
            .addParameter(Body.classNamed("ServerSocket"), "server")
            .addStatement("return $L($L.connect(folder, peers, key, server))", self, main)
            .build(),
        MethodSpec.methodBuilder("serve")
            .addModifiers(Modifier.PUBLIC, Modifier.STATIC)
            .addJavadoc("Runs a device other than 0, until device 0 closes its program.\n")
            .addParameter(folder)
            .addParameter(TypeName.INT, "device")
            .addParameter(peers)
            .addParameter(Types.of("Path"), "key")
            .addException(Body.classNamed("IOException"))
            .addStatement("$L.serve(folder, device, peers, key)", main)
            .build(),
        MethodSpec.methodBuilder("main")
            .addModifiers(Modifier.PUBLIC, Modifier.STATIC)
            .addJavadoc(
                "A process of a device: {@code DIR --device I --peers HOST:PORT,... --key FILE}\n")
            .addParameter(Types.of("String[]"), "arguments")
            .varargs()
            .addStatement("$L.main(arguments)", main)
            .build());
  }

  private MethodSpec.Builder opened(String name, String comment) {
    return MethodSpec.methodBuilder(name)
        .addModifiers(Modifier.PUBLIC, Modifier.STATIC)
        .addJavadoc("$L\n", comment)
        .addException(Body.classNamed("IOException"))
        .returns(classes.called());
  }

  private MethodSpec chunk(ProgramPlan chunk) {
    Body body = new Body();
    return run(chunk, "chunk", signature(chunk).run("chunk", body), body);
  }

  /**
   * @param call the name of the devices' method
   * @param body the method's body so far
   */
  private MethodSpec run(ProgramPlan plan, String call, MethodSpec.Builder method, Body body) {
    body.line("Object[][] deviceInputs = new Object[DEVICES][]");
    body.open(LoopNest.loop("i", "DEVICES"));
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < plan.inputs().size(); i++) {
      Signature.Parameter parameter = plan.signature().parameters().get(i);
      String name = SignatureCode.constantName(parameter.field());
      parts.add(
          isEverywhere(plan.inputs().get(i))
              ? parameter.identifier()
              : "%s.cut(%s, %s_SHAPE, %s_BOXES[i])"
                  .formatted(
                      classes.with("Boxes").simpleName(), parameter.identifier(), name, name));
    }
    body.line("deviceInputs[i] = new Object[] {" + String.join(", ", parts) + "}");
    body.close();
    body.line(
        (plan.outputs().isEmpty() ? "" : "Object[][] deviceOutputs = ")
            + "devices."
            + call
            + "(deviceInputs)");
    SignatureCode.returns(
        body,
        plan.signature().results().stream()
            .map(result -> joinName(result) + "(deviceOutputs)")
            .toList());
    return method.addCode(body.build()).build();
  }

  /** {@code joinOutputLogits}: a name that differs from all other methods. */
  private static String joinName(Signature.Result result) {
    String field = result.field();
    return "join" + Character.toUpperCase(field.charAt(0)) + field.substring(1);
  }

  private void addJoined(TypeSpec.Builder type, ProgramPlan plan) {
    for (int i = 0; i < plan.outputs().size(); i++) {
      type.addMethod(joined(plan, i));
    }
  }

  private MethodSpec joined(ProgramPlan plan, int index) {
    Port port = plan.outputs().get(index);
    Signature.Result result = plan.signature().results().get(index);
    String primitive = Storage.of(result.type().element()).primitive();
    List<Integer> givers = ProgramPlan.givers(port);
    Body body = new Body();
    if (port.isWhole() && !givers.isEmpty()) {
      body.line(
          "return (%s[]) deviceOutputs[%s][%s]".formatted(primitive, givers.getFirst(), index));
    } else {
      body.line(
          "%s[] whole = new %s[%s]"
              .formatted(primitive, primitive, SignatureCode.lengthName(result.field())));
      body.open("for (int i : new int[] " + TableCode.braces(givers) + ")");
      String name = SignatureCode.constantName(result.field());
      body.line(
          "%s.paste(deviceOutputs[i][%s], %s_SHAPE, %s_BOXES[i], whole)"
              .formatted(classes.with("Boxes").simpleName(), index, name, name));
      body.close();
      body.line("return whole");
    }
    return MethodSpec.methodBuilder(joinName(result))
        .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
        .addParameter(Types.of("Object[][]"), "deviceOutputs")
        .returns(SignatureCode.arrayOf(result.type()))
        .addCode(body.build())
        .build();
  }

  private MethodSpec reset() {
    Body body = new Body().line("devices.reset()");
    if (tokenStep.flatMap(TokenStep::position).isPresent()) {
      body.line("position = 0");
    }
    return MethodSpec.methodBuilder("reset")
        .addModifiers(Modifier.PUBLIC)
        .addJavadoc("Resets the state: the next step is the first.\n")
        .addCode(body.build())
        .build();
  }

  private static MethodSpec close() {
    return MethodSpec.methodBuilder("close")
        .addAnnotation(Override.class)
        .addModifiers(Modifier.PUBLIC)
        .addJavadoc("Ends the devices.\n")
        .addStatement("devices.close()")
        .build();
  }

  private MethodSpec device() {
    Body body = new Body();
    body.line(
        "Path weights = folder.resolve(\"%s.device\" + device + \".weights\")"
            .formatted(classes.called().simpleName()));
    body.open("switch (device)");
    for (int role = 0; role < plan.roles().size(); role++) {
      String cases =
          plan.roles().get(role).role().devices().stream()
              .map(Object::toString)
              .collect(Collectors.joining(", "));
      body.open("case " + cases + " ->");
      body.line(
          "return new %s(weights, device, channels)".formatted(classes.role(role).simpleName()));
      body.close();
    }
    body.line("default -> throw new IllegalArgumentException(\"device \" + device)");
    body.close();
    return MethodSpec.methodBuilder("device")
        .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
        .addJavadoc("The program of one device.\n")
        .addParameter(PATH, "folder")
        .addParameter(TypeName.INT, "device")
        .addParameter(classes.channels(), "channels")
        .addException(Body.classNamed("IOException"))
        .returns(classes.channels().nestedClass("Device"))
        .addCode(body.build())
        .build();
  }
}
