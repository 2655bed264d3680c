package io.partita.tests.documentation;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.Description;
import io.partita.backend.emitted.EmittedProgram;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The worked example of a backend: it emits a listing of what each device computes and sends. */
final class ListingBackend implements Backend {
  private static final ProgramDescription FORM =
      new ProgramDescription("partita listing 1", "listing", ListingCode.NOT_A_LISTING);

  @Override
  public String language() {
    return "listings";
  }

  @Override
  public EmittedProgram emit(Program program, Optional<Program> chunk) {
    List<EmittedFile> files = new ArrayList<>();
    for (int device = 0; device < program.devices().size(); device++) {
      List<Node> nodes = program.devices().get(device).graph().nodes();
      String lines = nodes.stream().map(ListingBackend::line).collect(Collectors.joining());
      files.add(EmittedFile.text("device" + device + ".txt", lines));
    }
    ProgramInterface whole = ProgramInterface.of(program, chunk);
    files.add(EmittedFile.text(ProgramDescription.FILE, FORM.json(whole, Map.of())));
    return new Listing(new ListingDescription(whole), files);
  }

  private static String line(Node node) {
    String results =
        node.results().stream().map(Value::type).map(Object::toString).collect(joined());
    return switch (node.op()) {
      case Communication.Exchange exchange ->
          exchange.steps().stream().map(Step::toString).collect(joined()) + "\n";
      default -> node.op().mnemonic() + " -> " + results + "\n";
    };
  }

  private static java.util.stream.Collector<CharSequence, ?, String> joined() {
    return Collectors.joining(", ");
  }

  @Override
  public boolean isProgram(Path folder) {
    return FORM.isIn(folder, (whole, fields) -> new ListingDescription(whole));
  }

  static ListingDescription read(Path folder) {
    return FORM.read(folder, (whole, fields) -> new ListingDescription(whole));
  }

  private record Listing(Description description, List<EmittedFile> files)
      implements EmittedProgram {}

  /** What a runner would read. */
  record ListingDescription(ProgramInterface whole) implements Description {
    @Override
    public int devices() {
      return whole.mesh().devices();
    }

    @Override
    public Optional<String> mainClass() {
      return Optional.empty();
    }

    @Override
    public String summary() {
      return "listings of " + devices() + " devices";
    }
  }
}
