package io.partita.backend.java.code;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.plan.DeviceClass;
import io.partita.backend.java.plan.DeviceNumbers;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/**
 * The additions for a role's class: it has channels, knows its device, and takes arrays that are
 * numbered like the whole model's inputs and outputs.
 */
final class RoleCode {
  private static final TypeName OBJECTS = ArrayTypeName.of(ClassName.OBJECT);

  private final ProgramPlan program;
  private final ModulePlan plan;
  private final DeviceClasses classes;

  RoleCode(ProgramPlan program, ModulePlan plan, DeviceClasses classes) {
    this.program = program;
    this.plan = plan;
    this.classes = classes;
  }

  private DeviceClass role() {
    return plan.role();
  }

  /** {@code device 0}, {@code devices 1 to 3, 5}. */
  static String text(List<Integer> devices) {
    List<String> runs = new ArrayList<>();
    for (int i = 0; i < devices.size(); i++) {
      int first = devices.get(i);
      while (i + 1 < devices.size() && devices.get(i + 1) == devices.get(i) + 1) {
        i++;
      }
      int last = devices.get(i);
      runs.add(first == last ? "" + first : first + (last == first + 1 ? ", " : " to ") + last);
    }
    return (devices.size() == 1 ? "device " : "devices ") + String.join(", ", runs);
  }

  String title() {
    return "The part of " + text(role().devices()) + " of " + program.program().mesh();
  }

  TypeName device() {
    return classes.channels().nestedClass("Device");
  }

  /** Tables of the numbers in which the devices differ, and the device's own rows. */
  void addFields(TypeSpec.Builder type) {
    boolean hasTables = !plan.peers().isEmpty() || !plan.offsets().isEmpty();
    if (hasTables) {
      type.addField(
          FieldSpec.builder(
                  Types.of("int[]"), "DEVICES", Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
              .addJavadoc("The devices of this role; the tables have one row per device.\n")
              .initializer("$L", TableCode.braces(role().devices()))
              .build());
    }
    addTable(type, plan.peers(), "The peers of each device's messages.");
    addTable(type, plan.offsets(), "The offsets and sizes of parts, in elements.");
    type.addField(
        FieldSpec.builder(classes.channels(), "channels", Modifier.PRIVATE, Modifier.FINAL)
            .build());
  }

  private static void addTable(TypeSpec.Builder type, DeviceNumbers numbers, String comment) {
    if (numbers.isEmpty()) {
      return;
    }
    String name = SignatureCode.constantName(numbers.field());
    new TableCode(name, comment, numbers.rows()).addTo(type);
    type.addField(
        FieldSpec.builder(Types.of("int[]"), numbers.field(), Modifier.PRIVATE, Modifier.FINAL)
            .build());
  }

  /** The part of a constructor before it reads constants. */
  void construct(MethodSpec.Builder constructor, Body body) {
    constructor.addParameter(TypeName.INT, "device").addParameter(classes.channels(), "channels");
    body.line("this.channels = channels");
    if (!plan.peers().isEmpty() || !plan.offsets().isEmpty()) {
      body.line("int row = Arrays.binarySearch(DEVICES, device)");
    }
    for (DeviceNumbers numbers : List.of(plan.peers(), plan.offsets())) {
      if (!numbers.isEmpty()) {
        String table = SignatureCode.constantName(numbers.field());
        body.line("this.%s = %s[row]".formatted(numbers.field(), table));
      }
    }
  }

  /** {@code call}, and {@code reset} of a device without state. */
  List<MethodSpec> methods() {
    List<MethodSpec> methods = new ArrayList<>();
    methods.add(call("call", plan.states().isEmpty() ? "run" : "step", program, plan));
    if (program.chunk().isPresent()) {
      methods.add(call("chunk", "chunk", program.chunk().get(), plan.chunk().orElseThrow()));
    }
    if (plan.states().isEmpty()) {
      methods.add(
          MethodSpec.methodBuilder("reset")
              .addAnnotation(Override.class)
              .addModifiers(Modifier.PUBLIC)
              .addComment("This device has no state.")
              .build());
    }
    return methods;
  }

  private static MethodSpec call(String name, String method, ProgramPlan program, ModulePlan plan) {
    Body body = new Body();
    String arguments =
        plan.parameters().stream()
            .map(p -> argument(program, p.name(), p.value().type()))
            .collect(Collectors.joining(", "));
    String call = method + "(" + arguments + ")";
    switch (plan.results().size()) {
      case 0 -> body.line(call);
      case 1 -> {
        TensorType type = plan.results().getFirst().type();
        body.line(Storage.of(type.element()).primitive() + "[] result = " + call);
      }
      default -> body.line("Outputs results = " + call);
    }
    body.line("return new Object[] {" + outputs(program, plan) + "}");
    return MethodSpec.methodBuilder(name)
        .addAnnotation(Override.class)
        .addModifiers(Modifier.PUBLIC)
        .addParameter(OBJECTS, "inputs")
        .returns(OBJECTS)
        .addCode(body.build())
        .build();
  }

  private static String argument(ProgramPlan program, String name, TensorType type) {
    List<String> names = program.inputs().stream().map(ProgramPlan.Port::name).toList();
    return "(%s[]) inputs[%s]"
        .formatted(Storage.of(type.element()).primitive(), names.indexOf(name));
  }

  private static String outputs(ProgramPlan program, ModulePlan plan) {
    List<String> values = new ArrayList<>();
    for (ProgramPlan.Port output : program.outputs()) {
      String value = "null";
      for (ModulePlan.Result result : plan.results()) {
        if (result.name().equals(output.name())) {
          value = plan.results().size() == 1 ? "result" : "results." + result.identifier() + "()";
        }
      }
      values.add(value);
    }
    return String.join(", ", values);
  }
}
